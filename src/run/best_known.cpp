// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "best_known.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "kernelsearch/agents/space_text.hpp"
#include "kernelsearch/core/device_identity.hpp"
#include "kernelsearch/problem/evaluate.hpp"
#include "kernelsearch/report/format.hpp"
#include "kernelsearch/store/json.hpp"

namespace kernelsearch::detail {

std::optional<Config> config_of_values(const Space& space, const std::string& values) {
  const nlohmann::json object = nlohmann::json::parse(values, nullptr, false);
  if (!object.is_object()) return std::nullopt;
  std::vector<Value> found;
  for (const Tunable& tunable : space.tunables()) {
    const auto at = object.find(tunable.name);
    if (at == object.end()) return std::nullopt;
    found.push_back(value_from_json(*at));
  }
  std::optional<Config> config = space.config_of(found);
  if (!config || !space.contains(*config)) return std::nullopt;
  return config;
}

std::optional<BestKnown> best_known(const RunStore& store, const Problem& problem, const std::string& digest,
                                    const std::string& device) {
  const Space& space = problem.kernel.space;
  std::optional<BestKnown> best;
  for (const RunRow& row : store.runs({.problem_digest = digest})) {
    if (!same_device(row.info.device, device)) continue;
    store.each_trial(row.id, [&](const StoredTrial& trial) {
      if (!trial.outcome.ok() || !trial.candidate) return;
      const double seconds = trial.outcome.evaluation.measurement.seconds;  // other runs, other objectives
      if (best && best->seconds <= seconds) return;
      const auto kernel = store.kernel(trial.candidate->kernel);
      if (!kernel || Regions{kernel->device, kernel->host, kernel->macros} != problem.kernel.regions) return;
      if (auto config = config_of_values(space, trial.candidate->values))
        best = {*std::move(config), trial.candidate->values, row.id, trial.outcome.id, seconds};
    });
  }
  if (best && best->config == space.default_config()) return std::nullopt;
  return best;
}

std::string told(const Space& space, const BestKnown& known) {
  std::string values;
  for (const auto& [name, value] : named_values(space, known.config))
    values += (values.empty() ? "" : ", ") + name + " = " + json_text(value);
  return fmt::format(
      "begins at the best configuration of this kernel that the store knows: {} (run {}, trial {}, {}); "
      "--root "
      "default begins at the problem's",
      values, number(known.run), number(known.trial), format_seconds(known.seconds));
}

}  // namespace kernelsearch::detail
