// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "own_policies.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <utility>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/core/impl/option_fault.hpp"
#include "kernelsearch/policy/policy_choice.hpp"
#include "kernelsearch/policy/policy_text.hpp"
#include "kernelsearch/policy/registry.hpp"

namespace kernelsearch::app {
namespace {

const ExternalPolicy* find(const std::vector<ExternalPolicy>& policies, const std::string& name) {
  const auto found = std::find_if(policies.begin(), policies.end(),
                                  [&](const ExternalPolicy& policy) { return policy.name == name; });
  return found == policies.end() ? nullptr : &*found;
}

ExternalPolicy built_in(std::string label, const PolicyChoice& choice) {
  return {std::move(label), std::string(choice.entry().summary), "built in",
          [choice](const PolicySetup& setup) { return choice.make(setup); }, false};
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

std::vector<ExternalPolicy> chosen_policies(const std::vector<std::string>& lists, const OwnPolicies& own) {
  std::vector<ExternalPolicy> mine;
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
  std::vector<std::string> texts;
  for (const std::string& list : lists)
    for (std::string& text : split_policies(list)) texts.push_back(std::move(text));
  if (texts.empty() || texts == std::vector<std::string>{"all"}) {
    for (const ConfigPolicyEntry& entry : config_policies())
      if (entry.name != "exhaustive")
        chosen.push_back(built_in(std::string(entry.name), PolicyChoice(entry)));
    chosen.insert(chosen.end(), mine.begin(), mine.end());
    return chosen;
  }
  for (const std::string& name : texts) {
    const ExternalPolicy* policy = find(mine, std::string(policy_name(name)));
    if (policy != nullptr) {
      chosen.push_back(with_options(*policy, name));
      continue;
    }
    if (!mine.empty() && !try_find_config_policy(policy_name(name))) {
      std::vector<std::string> known;
      for (const ConfigPolicyEntry& entry : config_policies()) known.emplace_back(entry.name);
      for (const ExternalPolicy& one : mine) known.push_back(one.name);
      detail::raise<ConfigError>("no policy of that name", name, detail::nearest_of(name, known));
    }
    chosen.push_back(built_in(name, choose_policy(name)));
  }
  const std::vector<ExternalPolicy> named = chosen;
  for (const ExternalPolicy& policy : mine)
    if (std::none_of(named.begin(), named.end(),
                     [&](const ExternalPolicy& one) { return one.source == policy.source; }))
      chosen.push_back(policy);
  return chosen;
}

}  // namespace kernelsearch::app
