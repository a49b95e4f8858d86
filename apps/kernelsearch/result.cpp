// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "result.hpp"

#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "kernelsearch/report/summary.hpp"
#include "kernelsearch/report/winner.hpp"
#include "kernelsearch/runtime/settings_table.hpp"
#include "kernelsearch/store/json.hpp"

namespace kernelsearch::app {
namespace {

/// The files written, by what they are.
using Files = std::vector<std::pair<std::string, std::filesystem::path>>;

Files write_files(const RunStore& store, RunId run, const Problem& problem,
                  const std::filesystem::path& folder, bool with_table) {
  const WinnerFiles files = write_winner(store, run, problem, folder);
  if (!with_table) return {{"source", files.source}, {"settings", files.settings}, {"record", files.record}};
  const std::filesystem::path table = folder / (problem.name + "_table.jsonl");
  SettingsTable::append(table, best_settings(store, run, problem));
  return {{"source", files.source}, {"settings", files.settings}, {"record", files.record}, {"table", table}};
}

}  // namespace

void report_result(const RunStore& store, RunId run, const Problem& problem,
                   const std::optional<std::filesystem::path>& folder, bool json,
                   const std::vector<LearnedFrom>& learned, const SystemReport& system) {
  Files files;
  if (folder) files = write_files(store, run, problem, *folder, !system.rewrites);
  if (!json) {
    fmt::print("{}", run_summary(store, run));
    for (const LearnedFrom& from : learned)
      fmt::print("{:<10} {}: {} outcomes, rank correlation {:.2f} with what was measured now\n",
                 "learned from", from.source, from.outcomes, from.agreement);
    for (const auto& [what, path] : files) fmt::print("{:<10} {}\n", what, path.string());
    fmt::print("{}", system.text);
    return;
  }
  const RunRow row = store.run(run);
  const RunTotals totals = run_totals(store, run);
  nlohmann::ordered_json out{{"run", number(run)},
                             {"store", store.file().string()},
                             {"problem", problem.name},
                             {"policy", row.info.policy},
                             {"seed", row.info.seed},
                             {"device", row.info.device},
                             {"toolchain", row.info.toolchain},
                             {"reason", row.reason},
                             {"trials", row.trials},
                             {"seconds", row.seconds}};
  for (int v = 0; v < verdict_count; ++v)
    out["verdicts"][std::string(to_string(static_cast<Verdict>(v)))] =
        totals.verdicts[static_cast<std::size_t>(v)];
  out["best"] = nullptr;
  if (const auto best = store.best_trial(run); best && best->candidate) {
    const Evaluation& evaluation = best->outcome.evaluation;
    out["best"] = {{"trial", number(best->outcome.id)},
                   {"config", nlohmann::ordered_json::parse(best->candidate->values)},
                   {"seconds", evaluation.measurement.seconds},
                   {"measurement", nlohmann::json(evaluation.measurement)}};
    if (evaluation.measurement.speedup)
      out["best"]["speedup"] = nlohmann::json(*evaluation.measurement.speedup);
  }
  for (const auto& [what, path] : files) out["files"][what] = path.string();
  for (const LearnedFrom& from : learned)
    out["learned_from"].push_back(
        {{"source", from.source}, {"outcomes", from.outcomes}, {"rank_correlation", from.agreement}});
  if (!system.json.empty()) out["models"] = nlohmann::ordered_json::parse(system.json);
  fmt::print("{}\n", out.dump(2));
}

}  // namespace kernelsearch::app
