// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "result.hpp"

#include <nlohmann/json.hpp>

#include "kernelsearch/report/front.hpp"
#include "kernelsearch/report/summary.hpp"
#include "kernelsearch/store/json.hpp"
#include "terminal.hpp"

namespace kernelsearch::app {

namespace {

nlohmann::ordered_json front_trial_json(const RunStore& store, RunId run, const Objectives& objectives,
                                        TrialId id) {
  const std::optional<StoredTrial> trial = store.trial(run, id);
  nlohmann::ordered_json out{{"trial", number(id)}};
  const auto values = objectives.try_values(trial->outcome.evaluation);
  for (std::size_t i = 0; values && i < values->size(); ++i)
    out["values"][objectives.rows()[i].name] = (*values)[i];
  if (trial->candidate) out["config"] = nlohmann::ordered_json::parse(trial->candidate->values);
  return out;
}

}  // namespace

void print_result(const RunStore& store, const RunResult& result, bool json) {
  if (!json) {
    print_clean("{}", run_summary(store, result.run));
    for (const LearnedFrom& from : result.learned)
      print_clean("{:<10} {}: {} outcomes, rank correlation {:.2f} with what was measured now\n",
                  "learned from", from.source, from.outcomes, from.agreement);
    for (const auto& [what, path] : result.files)
      if (what != "report") print_clean("{:<10} {}\n", what, path.string());
    print_clean("{}", result.models_text);
    return;
  }
  const RunRow& row = result.row;
  const RunTotals totals = run_totals(store, result.run);
  nlohmann::ordered_json out{
      {"run", number(result.run)},       {"store", store.file().string()}, {"problem", row.info.problem},
      {"policy", row.info.policy},       {"seed", row.info.seed},          {"device", row.info.device},
      {"toolchain", row.info.toolchain}, {"reason", row.reason},           {"trials", row.trials},
      {"seconds", row.seconds}};
  for (int v = 0; v < verdict_count; ++v)
    out["verdicts"][std::string(to_string(static_cast<Verdict>(v)))] =
        totals.verdicts[static_cast<std::size_t>(v)];
  out["best"] = nullptr;
  if (const auto& best = result.best) {
    const Evaluation& evaluation = best->outcome.evaluation;
    out["best"] = {{"trial", number(best->outcome.id)},
                   {"config", nlohmann::ordered_json::parse(best->candidate->values)},
                   {"seconds", evaluation.measurement.seconds},
                   {"measurement", nlohmann::json(evaluation.measurement)}};
    if (evaluation.measurement.speedup)
      out["best"]["speedup"] = nlohmann::json(*evaluation.measurement.speedup);
    out["best"]["improvement"] = result.no_improvement.empty();
    if (!result.no_improvement.empty()) out["best"]["no_improvement"] = result.no_improvement;
  }
  const ParetoFront front = pareto_front_of(store, result.run);
  for (const Objective& objective : front.objectives.rows()) {
    out["objectives"].push_back({{"name", objective.name},
                                 {"formula", objective.value.text()},
                                 {"better", objective.maximize ? "higher" : "lower"},
                                 {"weight", objective.weight}});
    if (front.is_unchecked(objective)) out["objectives"].back()["unchecked"] = true;
  }
  for (const FrontTrial& trial : front.trials)
    out["front"].push_back(front_trial_json(store, result.run, front.objectives, trial.id));
  if (result.finalists) out["finalists"] = nlohmann::ordered_json::parse(to_json_text(*result.finalists));
  if (totals.loaded != 0) out["load"] = {{"trials", totals.loaded}, {"most", totals.most_load}};
  for (const auto& [what, path] : result.files)
    if (what != "report") out["files"][what] = path.string();
  for (const LearnedFrom& from : result.learned)
    out["learned_from"].push_back(
        {{"source", from.source}, {"outcomes", from.outcomes}, {"rank_correlation", from.agreement}});
  if (!result.no_reply.empty()) out["no_reply"] = result.no_reply;
  if (!result.models_json.empty()) out["models"] = nlohmann::ordered_json::parse(result.models_json);
  print_json(out);
}

}  // namespace kernelsearch::app
