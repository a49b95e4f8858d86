// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "begun_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/core/nearest.hpp"
#include "kernelsearch/policy/registry.hpp"
#include "kernelsearch/run/budget.hpp"
#include "kernelsearch/run/suggested_moves.hpp"

namespace kernelsearch::detail {

using nlohmann::json;

Began::Began(const RunRow& row) {
  options = json::parse(row.info.options, nullptr, false);
  if (!options.is_object()) options = json::object();
}

std::string Began::text(const char* name, const char* otherwise) const {
  const auto found = options.find(name);
  return found != options.end() && found->is_string() ? found->get<std::string>() : otherwise;
}

bool Began::some(const char* name) const {
  const auto found = options.find(name);
  return found != options.end() && !found->is_null() && !found->empty() && *found != "";
}

RunPlan plan_of(const RunRow& row) {
  const Began began(row);
  if (row.info.generator != "template" && row.info.generator != "submit")
    raise<ConfigError>(fmt::format("run {} was made by another generator", number(row.id)),
                       row.info.generator, "continue it with the command that began it");
  for (const char* other : {"learned_from", "where", "configs"})
    if (began.some(other))
      raise<ConfigError>(fmt::format("run {} was begun with {}", number(row.id), other),
                         began.options[other].dump(),
                         fmt::format("continue it with `kernelsearch tune --resume {}`", number(row.id)));
  RunPlan plan;
  plan.policy = row.info.policy;
  plan.seed = row.info.seed;
  plan.budget = began.text("budget", "200");
  plan.suggest = began.text("suggest", "none");
  if (began.options.contains("strategies"))
    plan.strategies = began.options["strategies"].get<std::vector<std::string>>();
  plan.jobs = std::max(1U, began.options.value("jobs", 1U));
  return plan;
}

void check_policy(const RunPlan& plan) {
  (void)parse_budget(plan.budget);
  if (plan.policy == "submit") {
    (void)make_move_policy(plan.suggest, plan.strategies, plan.seed, {});
    return;
  }
  std::vector<std::string> names{"submit"};
  for (const ConfigPolicyEntry& entry : config_policies()) names.emplace_back(entry.name);
  if (std::find(names.begin(), names.end(), plan.policy) != names.end()) return;
  const std::string nearest = nearest_name(plan.policy, names);
  raise<ConfigError>("no such policy", plan.policy,
                     nearest.empty() ? "list_methods names them" : "did you mean " + nearest + "?");
}

}  // namespace kernelsearch::detail
