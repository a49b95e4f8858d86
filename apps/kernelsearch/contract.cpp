// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "commands.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/external/policy_contract.hpp"
#include "own_policies.hpp"
#include "terminal.hpp"

namespace kernelsearch::app {
namespace {

struct ContractCommand {
  std::vector<std::string> policies;
  OwnPolicies own;
  bool json = false;
};

int run(const ContractCommand& command) {
  if (command.policies.empty() && command.own.commands.empty() && command.own.plugins.empty())
    throw CLI::RequiredError("--policy, --policy-command or --policy-plugin");
  // Without a name only what was brought is meant, not every policy that there is.
  std::vector<ExternalPolicy> policies = chosen_policies(
      command.policies.empty() ? std::vector<std::string>{"random"} : command.policies, command.own);
  if (command.policies.empty()) policies.erase(policies.begin());
  bool all = true;
  nlohmann::ordered_json report = nlohmann::ordered_json::object();
  for (const ExternalPolicy& policy : policies) {
    const auto properties = check_policy_contract([&policy](const Space& space, std::uint64_t seed) {
      return policy.make({space, seed, {}, {}, true});
    });
    std::size_t held = 0;
    for (const ContractProperty& property : properties) {
      held += property.holds() ? 1 : 0;
      nlohmann::ordered_json entry{{"holds", property.holds()}, {"promise", property.promise}};
      if (!property.holds()) entry["fault"] = property.fault;
      report[policy.name][property.name] = std::move(entry);
    }
    all = all && held == properties.size();
    if (command.json) continue;
    print_clean("{}: {} of {} hold\n", policy.name, held, properties.size());
    for (const ContractProperty& property : properties) {
      print_clean("  {:7} {:9} {}\n", property.holds() ? "holds" : "BROKEN", property.name, property.promise);
      if (!property.holds()) print_clean("{:18} {}\n", "", property.fault);
    }
  }
  if (command.json) print_json(report);
  return all ? success : nothing_found;
}

}  // namespace

void add_contract(CLI::App& app, int& exit_code) {
  auto* sub = app.add_subcommand("contract", "Check what search policies must keep to");
  auto command = std::make_shared<ContractCommand>();
  sub->add_option("--policy", command->policies,
                  "Names, joined by commas: built-in ones, which may have options, "
                  "'genetic(population=40)', or of --policy-command and --policy-plugin");
  add_own_policies(*sub, command->own);
  sub->add_flag("--json", command->json, "Print one JSON object: policy, property, whether it holds");
  sub->footer(
      "Ends with 0 where all hold, 1 where one is broken. What each promise is: docs/extending.md#policy\n"
      "Example: kernelsearch contract --policy-command 'python3 mine.py'");
  sub->callback([command, &exit_code] { exit_code = run(*command); });
}

}  // namespace kernelsearch::app
