// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "own_policies.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <iterator>
#include <utility>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/core/nearest.hpp"
#include "kernelsearch/policy/registry.hpp"

namespace kernelsearch::app {
namespace {

const ExternalPolicy* find(const std::vector<ExternalPolicy>& policies, const std::string& name) {
  const auto found = std::find_if(policies.begin(), policies.end(),
                                  [&](const ExternalPolicy& policy) { return policy.name == name; });
  return found == policies.end() ? nullptr : &*found;
}

}  // namespace

void add_own_policies(CLI::App& sub, OwnPolicies& own) {
  sub.add_option("--policy-command", own.commands,
                 "A policy of your own in any language: 'COMMAND' or 'NAME: COMMAND', run by /bin/sh -c; it "
                 "speaks docs/formats/policy_protocol.md; repeatable")
      ->allow_extra_args(false);
  sub.add_option("--policy-plugin", own.plugins,
                 "Policies of your own in C++: a shared library; see docs/extending.md; repeatable")
      ->allow_extra_args(false);
  sub.add_option("--policy-timeout", own.timeout,
                 "Seconds within which a --policy-command must answer each time")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
}

std::vector<ExternalPolicy> chosen_policies(const std::vector<std::string>& names, const OwnPolicies& own) {
  std::vector<ExternalPolicy> built_in, mine;
  for (const ConfigPolicyEntry& entry : config_policies())
    built_in.push_back({std::string(entry.name), std::string(entry.summary), "built in", entry.make, false});
  const auto add = [&mine](ExternalPolicy policy) {
    if (find(mine, policy.name) != nullptr)
      detail::raise<ConfigError>("two policies have the same name", policy.name,
                                 "name commands: 'NAME: COMMAND'");
    mine.push_back(std::move(policy));
  };
  for (const std::string& command : own.commands)
    add(command_policy(command, {.folder = {}, .answer_seconds = own.timeout}));
  for (const std::string& file : own.plugins)
    for (ExternalPolicy& policy : load_policy_plugin(file)) add(std::move(policy));

  std::vector<ExternalPolicy> chosen;
  if (names.empty() || names == std::vector<std::string>{"all"}) {
    std::copy_if(built_in.begin(), built_in.end(), std::back_inserter(chosen),
                 [](const ExternalPolicy& policy) { return policy.name != "exhaustive"; });
    chosen.insert(chosen.end(), mine.begin(), mine.end());
    return chosen;
  }
  for (const std::string& name : names) {
    const ExternalPolicy* policy = find(mine, name);
    if (policy == nullptr) policy = find(built_in, name);
    if (policy == nullptr) {
      std::vector<std::string> known;
      for (const auto* list : {&built_in, &mine})
        for (const ExternalPolicy& one : *list) known.push_back(one.name);
      const std::string nearest = nearest_name(name, known);
      std::string all;
      for (const std::string& one : known) all += (all.empty() ? "" : ", ") + one;
      detail::raise<ConfigError>(
          "no policy of that name", name,
          (nearest.empty() ? "" : "did you mean " + nearest + "? ") + "there are " + all);
    }
    chosen.push_back(*policy);
  }
  const std::vector<ExternalPolicy> named = chosen;
  for (const ExternalPolicy& policy : mine)
    if (std::none_of(named.begin(), named.end(),
                     [&](const ExternalPolicy& one) { return one.source == policy.source; }))
      chosen.push_back(policy);
  return chosen;
}

}  // namespace kernelsearch::app
