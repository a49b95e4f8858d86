// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "run_json.hpp"

#include <fmt/format.h>

#include <cmath>

#include "kernelsearch/agents/skill_texts.hpp"
#include "kernelsearch/core/shown_verdict.hpp"
#include "kernelsearch/report/format.hpp"
#include "kernelsearch/report/front.hpp"
#include "kernelsearch/report/improvement.hpp"
#include "kernelsearch/report/summary.hpp"
#include "kernelsearch/store/json.hpp"

namespace kernelsearch::detail {

using nlohmann::json;

namespace {

constexpr std::size_t longest_reason = 20'000;  ///< compilers can be verbose; models pay by the word

json parents_json(const std::vector<TrialId>& parents) {
  json list = json::array();
  for (const TrialId parent : parents) list.push_back(number(parent));
  return list;
}

json speedup_json(const Speedup& speedup) {
  return {{"ratio", speedup.ratio},
          {"interval", {speedup.interval.low, speedup.interval.high}},
          {"pairs", speedup.pairs}};
}

bool finite(const Speedup& speedup) {
  return std::isfinite(speedup.ratio) && std::isfinite(speedup.interval.low) &&
         std::isfinite(speedup.interval.high);
}

}  // namespace

json move_json(const Move& move) {
  return {{"kind", to_string(move.kind)},
          {"parents", parents_json(move.parents)},
          {"strategies", move.strategies},
          {"variant", move.variant}};
}

Objectives run_objectives(const RunManager& manager, RunId run) {
  return objectives_of(manager.store().run(run).info);
}

json objectives_json(const Objectives& objectives, const Evaluation& evaluation) {
  json list = json::array();
  const auto values = objectives.try_values(evaluation);
  for (std::size_t i = 0; values && i < values->size(); ++i) {
    const Objective& row = objectives.rows()[i];
    list.push_back(
        {{"name", row.name}, {"value", (*values)[i]}, {"better", row.maximize ? "higher" : "lower"}});
    if (row.name == "time") list.back()["unit"] = "s";
    if (is_unchecked(row, evaluation)) list.back()["unchecked"] = true;
  }
  return list;
}

json trial_json(const StoredTrial& trial, const Objectives& objectives, bool shapes) {
  const Evaluation& e = trial.outcome.evaluation;
  json out{{"trial", number(trial.outcome.id)},
           {"verdict", to_string(e.verdict)},
           {"settings", json::object()},
           {"parents", parents_json(trial.outcome.parents)},
           {"at", trial.at}};
  if (trial.candidate)
    if (json values = json::parse(trial.candidate->values, nullptr, false); values.is_object())
      out["settings"] = std::move(values);
  if (!e.reason.empty())
    out["reason"] =
        e.reason.size() <= longest_reason ? e.reason : e.reason.substr(0, longest_reason) + " [cut]";
  if (e.overrun) out["overrun"] = *e.overrun;
  const json point = json::parse(trial.point, nullptr, false);
  if (point.is_object() && point.contains("kind")) out["move"] = move_json(point.get<Move>());
  if (!trial.outcome.ok()) return out;
  const Measurement& m = e.measurement;
  out["seconds"] = m.seconds;
  out["interval"] = {m.interval.low, m.interval.high};
  if (json values = objectives_json(objectives, e); !values.empty()) out["objectives"] = std::move(values);
  if (objectives.rows().size() > 1) out["scalar"] = trial.outcome.objective;
  if (m.speedup && finite(*m.speedup)) out["speedup"] = speedup_json(*m.speedup);
  if (!shapes) return out;
  json& list = out["shapes"] = json::array();
  for (const ShapeMeasurement& shape : m.shapes) {
    list.push_back({{"shape", shape.shape},
                    {"seconds", shape.median},
                    {"interval", {shape.interval.low, shape.interval.high}},
                    {"samples", shape.samples.size()},
                    {"ended", to_string(shape.ended)}});
    if (shape.speedup && finite(*shape.speedup)) list.back()["speedup"] = speedup_json(*shape.speedup);
  }
  return out;
}

json run_json(const RunManager& manager, RunId run) {
  const RunStore& store = manager.store();
  const RunRow row = store.run(run);
  const Objectives objectives = objectives_of(row.info);
  const std::string doing = manager.doing(run);
  const json began = json::parse(row.info.options, nullptr, false);
  const bool open = row.reason == "paused" || row.reason == "begun" || row.reason == "stopped" ||
                    row.reason == "waiting for kernels";
  json out{{"run", number(run)},
           {"name", row.info.name},
           {"problem", row.info.problem},
           {"policy", row.info.policy},
           {"seed", row.info.seed},
           {"objectives", objectives.text()},
           {"budget", began.is_object() ? began.value("budget", "") : ""},
           {"state", !doing.empty()  ? "working"
                     : !row.finished ? "interrupted"
                     : open          ? "paused"
                                     : "finished"},
           {"reason", row.reason},
           {"trials", row.trials},
           {"seconds", row.seconds},
           {"verdicts", json::object()},
           {"best", nullptr},
           {"device", row.info.device},
           {"toolchain", row.info.toolchain},
           {"started", row.started}};
  if (!doing.empty()) out["doing"] = doing;
  const RunTotals totals = run_totals(store, run);
  for (int v = 0; v < verdict_count; ++v)
    if (const std::uint64_t count = totals.verdicts[static_cast<std::size_t>(v)]; count > 0)
      out["verdicts"][std::string(to_string(static_cast<Verdict>(v)))] = count;
  if (const auto best = store.best_trial(run)) {
    out["best"] = trial_json(*best, objectives, false);
    if (const std::string none = no_improvement(store, run); !none.empty())
      out["best"]["no_improvement"] = none;
  }
  if (const std::optional<Move> move = manager.suggestion(run)) out["next_move"] = move_json(*move);
  return out;
}

std::string move_text(const Move& move) {
  // What these ask for is not to be guessed from their kind.
  if (move.kind == MoveKind::branch || move.kind == MoveKind::ablate) return move_words(move);
  std::string text(to_string(move.kind));
  for (const TrialId parent : move.parents) text += fmt::format(" trial {}", number(parent));
  std::string by;
  for (const std::string& strategy : move.strategies) by += (by.empty() ? " by " : ", ") + strategy;
  return text + by;
}

std::string trial_text(const StoredTrial& trial, const Objectives& objectives) {
  const Evaluation& e = trial.outcome.evaluation;
  std::string text =
      fmt::format("trial {}: {}", number(trial.outcome.id), shown_verdict(e.verdict, e.overrun));
  if (!trial.outcome.ok()) return text + (e.reason.empty() ? "" : ": " + e.reason.substr(0, 4000));
  const std::string values =
      objectives.only_time() ? "" : format_objectives(objectives, trial.outcome) + "; in ";
  text +=
      fmt::format(", {}{} ({} to {})", values, format_seconds(e.measurement.seconds),
                  format_seconds(e.measurement.interval.low), format_seconds(e.measurement.interval.high));
  if (e.measurement.speedup) text += ", speedup " + format_speedup(*e.measurement.speedup);
  return text;
}

std::string against_text(const Objectives& objectives, const Outcome& trial, const Outcome& other) {
  const std::string name = fmt::format("trial {}", number(other.id));
  const auto values = objectives.try_values(trial.evaluation),
             others = objectives.try_values(other.evaluation);
  if (objectives.only_time() || !values || !others)
    return fmt::format("takes {:.3f} of the time of {}",
                       trial.evaluation.measurement.seconds / other.evaluation.measurement.seconds, name);
  std::string text;
  for (std::size_t i = 0; i < values->size(); ++i)
    text +=
        fmt::format("{} {} is {:.3f} of that of {}, {}", i == 0 ? "" : ";", objectives.rows()[i].name,
                    (*values)[i] / (*others)[i], name, better_words(objectives.rows()[i], trial.evaluation));
  return text.substr(1);
}

std::string goal_text(const Objectives& objectives) {
  if (objectives.only_time()) return {};
  return fmt::format("What counts in this run: {}. {}\n", objectives.text(),
                     objectives.rows().size() > 1
                         ? "Lower is better where nothing says maximize; one trial is better than another "
                           "where the weighted geometric mean over all of them is."
                     : objectives.rows().front().maximize ? "Higher is better."
                                                          : "Lower is better.");
}

std::string run_text(const RunManager& manager, const json& run) {
  std::string text = fmt::format("run {} of {}, policy {}, budget {}: {}, {} trials",
                                 run["run"].get<std::int64_t>(), run["problem"].get<std::string>(),
                                 run["policy"].get<std::string>(), run["budget"].get<std::string>(),
                                 run["state"].get<std::string>(), run["trials"].get<std::uint64_t>());
  if (const auto reason = run["reason"].get<std::string>(); !reason.empty()) text += " (" + reason + ")";
  if (const json& best = run["best"]; best.is_object()) {
    if (best.contains("no_improvement"))
      text += "\nno improvement: " + best["no_improvement"].get<std::string>();
    const RunId id{run["run"].get<std::int64_t>()};
    const TrialId trial{best["trial"].get<std::uint64_t>()};
    const Objectives objectives = run_objectives(manager, id);
    text += fmt::format("\nbest: trial {}, {}", number(trial),
                        objectives.only_time()
                            ? format_seconds(best["seconds"].get<double>())
                            : format_objectives(objectives, manager.store().trial(id, trial)->outcome));
    if (objectives.only_time() && best.contains("speedup"))
      text += fmt::format(", {:.2f}x", best["speedup"]["ratio"].get<double>());
  } else if (run["trials"] != 0) {
    text += "\nnothing right yet";
  }
  return text;
}

std::string_view verdict_meaning(const Evaluation& evaluation) noexcept {
  switch (evaluation.verdict) {
    case Verdict::ok:
      return "Built, ran, right on every check against the reference, and measured.";
    case Verdict::not_generated:
      return "There was no candidate to judge: nothing was handed in for the move.";
    case Verdict::rejected:
      return "Refused before it was built: no shape of the problem accepts these settings.";
    case Verdict::build_failed:
      return "The compiler or linker refused the code.";
    case Verdict::launch_failed:
      return "Built, but it could not be started: an entry point, a launch or a resource is wrong.";
    case Verdict::crashed:
      return "It died while it ran: an invalid access, a trap or an abort.";
    case Verdict::timed_out:
      return "Building or running took longer than the limit.";
    case Verdict::wrong_result:
      return "It ran, but an output is outside its tolerance of the reference.";
    case Verdict::cheated:
      if (evaluation.overrun)
        return "It wrote outside of its arrays, as a store without a mask or a wrong index does.";
      return "It broke a rule of the measurement: changed inputs, or made up outputs.";
    case Verdict::not_applicable:
      return "No trial: what was asked for was judged not to apply to the kernel, for the reason given.";
  }
  return "";
}

std::string_view verdict_advice(const Evaluation& evaluation) noexcept {
  switch (evaluation.verdict) {
    case Verdict::ok:
      return "Compare it with the parent and the best; build on it if it is better.";
    case Verdict::not_generated:
      return "Nothing to fix; go on with another move.";
    case Verdict::rejected:
      return "Choose settings that the problem's `valid` accepts for some shape.";
    case Verdict::build_failed:
      return "Fix what the first error in the reason names, keep the function's signature, and hand it in "
             "with this "
             "trial as parent.";
    case Verdict::launch_failed:
      return "Check that the entry point has its name and signature, that blocks and shared memory fit the "
             "device, and "
             "that loads find what they link.";
    case Verdict::crashed:
      return "Check bounds at the sizes in the reason, remainders of tiles above all, and alignment of "
             "vector accesses.";
    case Verdict::timed_out:
      return "Look for a loop that does not end or far too much work or template instantiation.";
    case Verdict::wrong_result:
      return "The reason names the shape, the index, what was found and what was expected. Look at edges, "
             "initial "
             "values of sums, races, and outputs that are not written.";
    case Verdict::cheated:
      if (evaluation.overrun)
        return "Mask stores at the element that the reason names: look at the last block or tile and at "
               "the index's computation.";
      return "Write only to outputs and inside their sizes, compute from the inputs given, keep nothing "
             "between calls.";
    case Verdict::not_applicable:
      return "Nothing to fix; it costs nothing, and is not asked for on this kernel again.";
  }
  return "";
}

}  // namespace kernelsearch::detail
