// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/report/summary.hpp"

#include <algorithm>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "kernelsearch/core/clean_text.hpp"
#include "kernelsearch/report/failures.hpp"
#include "kernelsearch/report/format.hpp"
#include "kernelsearch/report/front.hpp"
#include "kernelsearch/report/improvement.hpp"
#include "kernelsearch/report/load.hpp"
#include "kernelsearch/store/json.hpp"

namespace kernelsearch {
namespace {

std::string best_lines(const StoredTrial& best, const RunInfo& run) {
  const Measurement& measured = best.outcome.evaluation.measurement;
  std::string text = fmt::format("best      {} ({} to {}), trial {}\n", format_seconds(measured.seconds),
                                 format_seconds(measured.interval.low),
                                 format_seconds(measured.interval.high), number(best.outcome.id));
  if (measured.speedup)
    text += fmt::format("speedup   {} over {}, {} interleaved pairs\n", format_speedup(*measured.speedup),
                        baseline_name(run.evaluator), measured.speedup->pairs);
  const Features& features = best.outcome.evaluation.features;
  const auto over = features.find("torch.over_baseline"), low = features.find("torch.over_baseline_low"),
             high = features.find("torch.over_baseline_high");
  if (over && low && high)
    text += fmt::format("          {:.3g}x ({:.3g} to {:.3g}) over the baseline\n", *over, *low, *high);
  if (const auto score = features.find("sol.score"))
    text += fmt::format(
        "score     S {:.3g} over {}: 1 at the roofline's bound (everything moved once at the peak of memory, "
        "products at that of their type), 0.5 at {}\n",
        *score, over ? "the baseline" : "the reference", over ? "the baseline" : "it");
  if (best.candidate) text += "settings  " + settings_line(best) + "\n";
  if (measured.shapes.size() < 2) return text;
  std::vector<std::vector<std::string>> rows;
  for (const ShapeMeasurement& shape : measured.shapes)
    rows.push_back(
        {shape.shape, format_seconds(shape.median),
         fmt::format("{} to {}", format_seconds(shape.interval.low), format_seconds(shape.interval.high)),
         std::to_string(shape.samples.size()), shape.speedup ? format_speedup(*shape.speedup) : "",
         std::string(to_string(shape.ended))});
  return text + format_table({"shape", "median", "interval", "samples", "speedup", "ended"}, rows);
}

/// The values of the winner, and with several objectives the front.
std::string objective_lines(const RunStore& store, const RunRow& row, const StoredTrial& best) {
  const ParetoFront front = pareto_front_of(store, row.id);
  const auto values = front.objectives.try_values(best.outcome.evaluation);
  if (front.objectives.only_time() || !values) return {};
  const std::span<const Objective> objectives = front.objectives.rows();
  std::string text;
  for (std::size_t i = 0; i < objectives.size(); ++i)
    text += fmt::format("{} {}: {}, {}\n", i == 0 ? "objective" : "         ", objectives[i].name,
                        format_objective(objectives[i], (*values)[i]),
                        better_words(objectives[i], best.outcome.evaluation));
  if (objectives.size() < 2) return text;
  text += fmt::format("front     {} trials that no other one beats in all objectives\n", front.trials.size());
  constexpr std::size_t most = 20;
  std::vector<std::string> header{"trial"};
  for (const Objective& objective : objectives) header.push_back(objective.name);
  header.emplace_back("settings");
  std::vector<std::vector<std::string>> rows;
  for (const FrontTrial& trial : front.trials) {
    if (rows.size() == most) break;
    rows.push_back({std::to_string(number(trial.id))});
    for (std::size_t i = 0; i < objectives.size(); ++i)
      rows.back().push_back(format_objective(objectives[i], trial.values[i]));
    rows.back().push_back(trial.settings);
  }
  text += format_table(header, rows);
  if (front.trials.size() > most)
    text += fmt::format("          and {} more: `kernelsearch best {} --json`\n", front.trials.size() - most,
                        number(row.id));
  return text;
}

std::string finalist_lines(const RunStore& store, RunId run) {
  const auto compared = store.finalists(run);
  if (!compared || compared->pairs.empty()) return {};
  std::string text;
  for (const FinalistPair& pair : compared->pairs)
    text += fmt::format("{} trial {} over {}: {}, {} pairs\n", text.empty() ? "finalists" : "         ",
                        number(pair.candidate),
                        pair.opponent ? fmt::format("trial {}", number(*pair.opponent))
                                      : std::string("the default configuration"),
                        format_speedup(pair.speedup), pair.speedup.pairs);
  return text;
}

std::string time_line(const RunStore& store, RunId run) {
  const auto times = store.times(run);
  const std::string text = times ? to_string(*times) : "";
  return text.empty() ? text : fmt::format("time      {}: {}\n", format_duration(times->total()), text);
}

/// The commonest reasons of failure with a trial each, so that one can be looked at.
std::string failure_lines(const RunStore& store, RunId run) {
  constexpr std::size_t most = 3;
  const std::vector<FailureGroup> groups = failure_reasons(store, run);
  std::string text;
  for (std::size_t i = 0; i < groups.size() && i < most; ++i)
    text += fmt::format("{}{} {}, trial {}{}\n", i == 0 ? "failed    " : "          ", groups[i].count,
                        groups[i].shown(), number(groups[i].trial),
                        groups[i].reason.empty() ? "" : ": " + groups[i].reason);
  if (groups.size() > most)
    text += fmt::format("          and {} other reasons: `kernelsearch show {} --failed`\n",
                        groups.size() - most, number(run));
  return text;
}

}  // namespace

void RunTotals::add(const Evaluation& evaluation) {
  ++verdicts[static_cast<std::size_t>(evaluation.verdict)];
  phases.build += evaluation.phases.build;
  phases.check += evaluation.phases.check;
  phases.measure += evaluation.phases.measure;
  const double load = load_of(evaluation.features);
  if (load > loaded_share) ++loaded;
  most_load = std::max(most_load, load);
}

RunTotals run_totals(const RunStore& store, RunId run) {
  RunTotals totals;
  store.each_trial(run, [&](const StoredTrial& trial) { totals.add(trial.outcome.evaluation); });
  totals.inner_trials = store.inner_trials(run).size();
  return totals;
}

std::string format_verdicts(const std::array<std::uint64_t, verdict_count>& verdicts) {
  std::string text;
  for (std::size_t v = 0; v < verdicts.size(); ++v)
    if (verdicts[v] != 0)
      text +=
          fmt::format("{}{} {}", text.empty() ? "" : ", ", verdicts[v], to_string(static_cast<Verdict>(v)));
  return text.empty() ? "none" : text;
}

std::string run_summary(const RunStore& store, RunId run) {
  const RunRow row = store.run(run);
  const RunTotals totals = run_totals(store, run);
  std::string text = fmt::format("run {}     {}", number(run), row.info.name);
  if (row.info.problem != row.info.name && !row.info.problem.empty()) text += " (" + row.info.problem + ")";
  text += row.finished ? ", ended: " + row.reason + "\n"
                       : ", not ended: it is running, or was killed and can be resumed\n";
  if (const auto best = store.best_trial(run)) {
    // Above everything that a single trial says of itself.
    if (const std::string none = no_improvement(store, run); !none.empty())
      text += "no improvement: " + none + "\n";
    text += best_lines(*best, row.info);
    text += objective_lines(store, row, *best);
    text += finalist_lines(store, run);
    if (best->outcome.evaluation.features.find("bounds_checked"))
      text += "bounds    kept: no access past the ends of its arrays, on any shape\n";
  } else {
    text += "best      none: no candidate was right\n";
  }
  text += fmt::format("trials    {} in {}: {}\n", row.trials, format_duration(row.seconds),
                      format_verdicts(totals.verdicts));
  text += failure_lines(store, run);
  if (totals.inner_trials != 0) text += fmt::format("          and {} inner trials\n", totals.inner_trials);
  if (totals.loaded != 0)
    text += fmt::format(
        "load      {} of {} trials were measured while others used the core or device (up to {:.0f} % of "
        "it): "
        "their times are too long and their intervals wide\n",
        totals.loaded, row.trials, 100 * totals.most_load);
  text += time_line(store, run);
  text += fmt::format("policy    {}, seed {}\n", row.info.policy, row.info.seed);
  if (!row.info.device.empty()) text += "device    " + row.info.device + "\n";
  if (!row.info.toolchain.empty()) text += "toolchain " + row.info.toolchain + "\n";
  const nlohmann::json environment = nlohmann::json::parse(row.info.environment, nullptr, false);
  if (const auto sandbox = environment.find("sandbox"); sandbox != environment.end() && sandbox->is_string())
    text += "sandbox   " + sandbox->get<std::string>() + "\n";
  return clean_text(text);
}

}  // namespace kernelsearch
