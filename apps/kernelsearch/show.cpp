// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "commands.hpp"
#include "kernelsearch/core/shown_verdict.hpp"
#include "kernelsearch/report/failures.hpp"
#include "kernelsearch/report/improvement.hpp"
#include "kernelsearch/store/json.hpp"
#include "store_access.hpp"
#include "terminal.hpp"

namespace kernelsearch::app {
namespace {

struct ShowCommand {
  std::string run = "latest";
  std::int64_t trial = -1;
  std::string store;
  std::size_t top = 10;
  bool failed = false;
  bool json = false;
};

std::string speedup_text(const Measurement& measurement) {
  if (!measurement.speedup) return "-";
  const Speedup& s = *measurement.speedup;
  return fmt::format("{:.2f}x [{:.2f}, {:.2f}]", s.ratio, s.interval.low, s.interval.high);
}

void show_trial(const RunStore& store, const RunRow& row, const StoredTrial& trial, bool json) {
  const Evaluation& e = trial.outcome.evaluation;
  if (json) {
    nlohmann::ordered_json out;
    out["run"] = number(row.id);
    out["trial"] = number(trial.outcome.id);
    if (trial.candidate) out["config"] = nlohmann::ordered_json::parse(trial.candidate->values);
    out["outcome"] = nlohmann::json(trial.outcome);
    print_json(out);
    return;
  }
  print_clean("trial {} of run {} ({})\n", number(trial.outcome.id), number(row.id), row.info.problem);
  if (trial.candidate) print_clean("config    {}\n", trial.candidate->values);
  print_clean("verdict   {}{}{}\n", shown_verdict(e.verdict, e.overrun), e.reason.empty() ? "" : ": ",
              e.reason);
  print_clean("time      {} [{}, {}], speedup {}\n", seconds_text(e.measurement.seconds),
              seconds_text(e.measurement.interval.low), seconds_text(e.measurement.interval.high),
              speedup_text(e.measurement));
  for (const ShapeMeasurement& shape : e.measurement.shapes)
    print_clean("  {:<20} {:>10} [{}, {}] spread {:.1f} % of {} samples, ended: {}\n", shape.shape,
                seconds_text(shape.median), seconds_text(shape.interval.low),
                seconds_text(shape.interval.high), 100 * shape.spread, shape.samples.size(),
                to_string(shape.ended));
  for (const auto& [name, value] : e.features) print_clean("  {} = {:g}\n", name, value);
  print_clean("phases    build {}, check {}, measure {}\n", seconds_text(e.phases.build),
              seconds_text(e.phases.check), seconds_text(e.phases.measure));
  if (!e.provenance.empty()) print_clean("how       {}\n", e.provenance);
  if (!trial.outcome.rationale.empty()) print_clean("why       {}\n", trial.outcome.rationale);
  for (const StoredInnerTrial& inner : store.inner_trials(row.id, trial.outcome.id))
    print_clean("  inner {} {} {} {}\n", inner.trial.number, inner.trial.key,
                shown_verdict(inner.trial.evaluation.verdict, inner.trial.evaluation.overrun),
                seconds_text(inner.trial.evaluation.measurement.seconds));
}

/// `S 0.61`, where the trial has a score of SOL-ExecBench's; with what sets it off behind it.
std::string score_text(const StoredTrial& trial) {
  const auto score = trial.outcome.evaluation.features.find("sol.score");
  return score ? fmt::format("S {:<6.3g} ", *score) : std::string();
}

std::string_view shown_of(const StoredTrial& trial) {
  const Evaluation& evaluation = trial.outcome.evaluation;
  return shown_verdict(evaluation.verdict, evaluation.overrun);
}

std::string failure_text(const StoredTrial& trial) {
  const std::string reason = short_reason(trial.outcome.evaluation.reason);
  return reason.empty() ? "no reason was given" : reason;
}

/// Failed trials by reason, then each with its settings.
int show_failed(const RunStore& store, const RunRow& row, std::vector<StoredTrial> trials,
                const ShowCommand& command) {
  trials.erase(std::remove_if(trials.begin(), trials.end(),
                              [](const StoredTrial& trial) { return trial.outcome.ok(); }),
               trials.end());
  const std::vector<FailureGroup> groups = failure_reasons(store, row.id);
  const std::size_t all = trials.size();
  if (trials.size() > command.top) trials.resize(command.top);
  if (command.json) {
    nlohmann::ordered_json out{{"run", number(row.id)},
                               {"failed", all},
                               {"reasons", nlohmann::ordered_json::array()},
                               {"trials", nlohmann::ordered_json::array()}};
    for (const FailureGroup& group : groups)
      out["reasons"].push_back({{"verdict", to_string(group.verdict)},
                                {"reason", group.reason},
                                {"count", group.count},
                                {"trial", number(group.trial)}});
    for (const StoredTrial& trial : trials)
      out["trials"].push_back(
          {{"trial", number(trial.outcome.id)},
           {"config", trial.candidate ? nlohmann::ordered_json::parse(trial.candidate->values) : nullptr},
           {"outcome", nlohmann::json(trial.outcome)}});
    print_json(out);
    return success;
  }
  print_clean("{} of {} trials of run {} failed\n", all, row.trials, number(row.id));
  for (const FailureGroup& group : groups)
    print_clean("  {:>5} {:<14} trial {}: {}\n", group.count, group.shown(), number(group.trial),
                group.reason.empty() ? "no reason was given" : group.reason);
  if (!trials.empty()) print_clean("trials:\n");
  for (const StoredTrial& trial : trials)
    print_clean("  {:>5}  {:<14}  {}  {}\n", number(trial.outcome.id), shown_of(trial),
                trial.candidate ? trial.candidate->key : "", failure_text(trial));
  if (all > trials.size()) print_clean("  and {} more: --top {}\n", all - trials.size(), all);
  return success;
}

int run(const ShowCommand& command) {
  const RunStore store = open_store_to_read(command.store);
  const RunRow row = require_run(store, command.run);
  if (command.trial >= 0) {
    const auto trial = store.trial(row.id, TrialId{static_cast<std::uint64_t>(command.trial)});
    if (!trial)
      detail::raise<ConfigError>(
          "no such trial in this run", std::to_string(command.trial),
          fmt::format("run {} has {} trials, counted from 0", number(row.id), row.trials));
    show_trial(store, row, *trial, command.json);
    return success;
  }
  auto trials = store.trials(row.id);
  if (command.failed) return show_failed(store, row, std::move(trials), command);
  std::array<std::uint64_t, verdict_count> verdicts{};
  for (const StoredTrial& trial : trials)
    ++verdicts[static_cast<std::size_t>(trial.outcome.evaluation.verdict)];
  std::stable_sort(trials.begin(), trials.end(),
                   [](const auto& a, const auto& b) { return a.outcome.objective < b.outcome.objective; });
  // The winner first: the comparison of finalists may have chosen another one than the lowest time.
  const std::optional<StoredTrial> winner = store.best_trial(row.id);
  if (winner)
    std::stable_partition(trials.begin(), trials.end(),
                          [&](const auto& trial) { return trial.outcome.id == winner->outcome.id; });
  if (trials.size() > command.top) trials.resize(command.top);
  if (command.json) {
    nlohmann::ordered_json out{{"run", number(row.id)},
                               {"problem", row.info.problem},
                               {"policy", row.info.policy},
                               {"seed", row.info.seed},
                               {"device", row.info.device},
                               {"toolchain", row.info.toolchain},
                               {"started", row.started},
                               {"reason", row.reason},
                               {"seconds", row.seconds},
                               {"trials", row.trials},
                               {"verdicts", nlohmann::ordered_json::object()}};
    for (int v = 0; v < verdict_count; ++v)
      out["verdicts"][std::string(to_string(static_cast<Verdict>(v)))] =
          verdicts[static_cast<std::size_t>(v)];
    out["winner"] = winner ? nlohmann::ordered_json(number(winner->outcome.id)) : nlohmann::ordered_json();
    if (const std::string none = no_improvement(store, row.id); !none.empty()) out["no_improvement"] = none;
    if (const auto compared = store.finalists(row.id))
      out["finalists"] = nlohmann::ordered_json::parse(to_json_text(*compared));
    auto& top = out["top"] = nlohmann::ordered_json::array();
    for (const StoredTrial& trial : trials)
      top.push_back(
          {{"trial", number(trial.outcome.id)},
           {"config", trial.candidate ? nlohmann::ordered_json::parse(trial.candidate->values) : nullptr},
           {"outcome", nlohmann::json(trial.outcome)}});
    print_json(out);
    return success;
  }
  print_clean("run {} \"{}\" of {}: policy {}, seed {}\non {}, {}\nstarted {}, {}, {} trials in {}\n",
              number(row.id), row.info.name, row.info.problem, row.info.policy, row.info.seed,
              row.info.device, row.info.toolchain, row.started,
              row.finished ? "ended: " + row.reason : "not finished", row.trials, seconds_text(row.seconds));
  for (int v = 0; v < verdict_count; ++v)
    if (verdicts[static_cast<std::size_t>(v)] != 0)
      print_clean("  {:<14} {}\n", to_string(static_cast<Verdict>(v)), verdicts[static_cast<std::size_t>(v)]);
  const auto right = static_cast<std::size_t>(std::count_if(
      trials.begin(), trials.end(), [](const StoredTrial& trial) { return trial.outcome.ok(); }));
  if (const std::string none = no_improvement(store, row.id); !none.empty())
    print_clean("no improvement: {}\n", none);
  print_clean("best {}{}:\n", right, winner ? ", the winner first" : "");
  for (const StoredTrial& trial : trials)
    if (trial.outcome.ok())
      print_clean("  {:>5}  {:>10}  {:<24}  {}{}\n", number(trial.outcome.id),
                  seconds_text(trial.outcome.evaluation.measurement.seconds),
                  speedup_text(trial.outcome.evaluation.measurement), score_text(trial),
                  trial.candidate ? trial.candidate->key : "");
  if (right < trials.size()) print_clean("failed:\n");
  for (const StoredTrial& trial : trials)
    if (!trial.outcome.ok())
      print_clean("  {:>5}  {:<14}  {}  {}\n", number(trial.outcome.id), shown_of(trial),
                  trial.candidate ? trial.candidate->key : "", failure_text(trial));
  const std::uint64_t failed = row.trials - verdicts[static_cast<std::size_t>(Verdict::ok)];
  if (failed > trials.size() - right)
    print_clean("{} failed: `kernelsearch show {} --failed` says why\n", failed, number(row.id));
  return success;
}

}  // namespace

void add_show(CLI::App& app, int& exit_code) {
  auto* sub = app.add_subcommand("show", "Show a run, or one of its trials with all that was measured");
  auto command = std::make_shared<ShowCommand>();
  sub->add_option("RUN", command->run, "Number or name of the run, or latest")->capture_default_str();
  sub->add_option("--trial", command->trial, "Show this trial");
  sub->add_option("--top", command->top, "How many trials to list: the best, then those that failed")
      ->capture_default_str();
  sub->add_flag("--failed", command->failed, "List the reasons of failure and the trials that failed");
  sub->add_option("--store", command->store, "SQLite file of runs");
  sub->add_flag("--json", command->json, "Print one JSON object");
  sub->footer(
      "Examples:\n"
      "  kernelsearch show latest --trial 17\n"
      "  kernelsearch show latest --failed     why trials failed, with one trial of each kind");
  sub->callback([command, &exit_code] { exit_code = run(*command); });
}

}  // namespace kernelsearch::app
