// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "call_progress.hpp"
#include "kernelsearch/agents/feedback.hpp"
#include "kernelsearch/core/clean_text.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/core/shown_verdict.hpp"
#include "kernelsearch/model/roofline.hpp"
#include "kernelsearch/report/format.hpp"
#include "kernelsearch/report/front.hpp"
#include "kernelsearch/run/stored_candidate.hpp"
#include "kernelsearch/run/trial_difference.hpp"
#include "kernelsearch/store/json.hpp"
#include "run_json.hpp"
#include "tool_kit.hpp"

/// Tools that hand kernels in and look into what became of them.
namespace kernelsearch::detail {
namespace {

using nlohmann::json;

std::optional<std::string> text_if(const json& arguments, const char* name) {
  const auto found = arguments.find(name);
  return found == arguments.end() ? std::nullopt : std::optional(found->get<std::string>());
}

/// Why a trial has its verdict, and what to do about that.
struct Explanation {
  std::string cause;   ///< the likeliest, by what differs from the parent; empty: nothing says
  std::string advice;  ///< empty where the cause says all
  [[nodiscard]] std::string text() const {
    std::string all = cause.empty() ? "" : "\nthe likeliest cause: " + cause;
    return advice.empty() || advice == cause ? all : all + "\n" + advice;
  }
};

/// A compiler's first error says more than that the code was changed.
void add_error(const Evaluation& evaluation, std::string& cause) {
  if (evaluation.verdict != Verdict::build_failed) return;
  const std::string errors = compiler_errors(evaluation.reason, 1);
  const std::string line = clean_text(errors.substr(0, errors.find('\n')));
  if (!line.empty()) cause += (cause.empty() ? "" : "; ") + ("the compiler's first error: " + line);
}

Explanation explained(const RunStore& store, RunId run, const StoredTrial& trial) {
  Explanation why{{}, std::string(verdict_advice(trial.outcome.evaluation))};
  if (trial.outcome.parents.empty()) {
    add_error(trial.outcome.evaluation, why.cause);
    return why;
  }
  const auto parent = store.trial(run, trial.outcome.parents.front());
  if (!parent) return why;
  const TrialDifference difference = difference_between(store, *parent, trial);
  why.cause = likely_cause(*parent, trial, difference);
  add_error(trial.outcome.evaluation, why.cause);
  // Advice on code would lead away from a setting.
  if (!why.cause.empty() && parent->outcome.ok() && difference.settings_alone()) why.advice = why.cause;
  return why;
}

json difference_json(const TrialDifference& difference) {
  constexpr std::size_t longest = 8'000;
  json out{{"settings", json::array()}, {"regions", json::array()}, {"diff", difference.diff}};
  if (difference.diff.size() > longest) out["diff"] = difference.diff.substr(0, longest) + " [cut]";
  for (const ChangedSetting& one : difference.settings)
    out["settings"].push_back({{"name", one.name}, {"before", one.before}, {"after", one.after}});
  for (const KernelRegion region : difference.regions) out["regions"].push_back(to_string(region));
  return out;
}

/// A profiler's counters under their own names are hundreds, and say little that the others do not.
void add_features(const Features& features, json& out, bool counters) {
  for (const auto& [name, value] : features)
    if (std::isfinite(value) && (counters || !name.starts_with("ncu."))) out[name] = value;
}

}  // namespace

ToolReply RunTools::submit_kernel(const json& arguments, const ToolCall& call) const {
  const RunId run = run_of(manager, arguments);
  Submission submission;
  submission.device = text_if(arguments, "device");
  submission.host = text_if(arguments, "host");
  submission.macros = text_if(arguments, "macros");
  submission.strategies = arguments.value("strategies", std::vector<std::string>{});
  submission.answers = arguments.value("answers", false);
  if (arguments.contains("tunables") || arguments.contains("constraints"))
    submission.tunables = json{{"tunables", arguments.value("tunables", json::object())},
                               {"constraints", arguments.value("constraints", json::array())}}
                              .dump();
  if (arguments.contains("parent"))
    submission.parent = TrialId{arguments["parent"].get<std::uint64_t>()};
  else if (!submission.answers)
    submission.parent = current_checkpoint(run);
  if (const auto settings = arguments.find("settings"); settings != arguments.end())
    for (const auto& [name, value] : settings->items())
      submission.settings.emplace_back(name, value_from_json(value));
  const bool kernels = manager.store().run(run).info.policy == "submit";
  if (!submission.device && !submission.host && !submission.macros && !submission.tunables &&
      submission.settings.empty() && kernels)
    return ToolReply::failed(
        "there is nothing to judge: give device, host or macros (a whole region), tunables or settings");
  const Objectives objectives = run_objectives(manager, run);
  CallProgress progress(call, {.trials = 1}, objectives);
  const std::optional<TrialId> id = manager.submit(run, submission, {call.stop(), &progress});
  json out{{"trial", nullptr}, {"is_best", false}, {"stopped", !id.has_value()}, {"advice", ""}};
  if (!id) {
    out["run"] = run_json(manager, run);
    return replied("stopped before there was a verdict", out);
  }
  const StoredTrial trial = trial_of(manager, run, *id);
  const std::optional<StoredTrial> best = manager.store().best_trial(run);
  const Verdict verdict = trial.outcome.evaluation.verdict;
  out["run"] = run_json(manager, run);
  out["trial"] = trial_json(trial, objectives, true);
  out["is_best"] = best && best->outcome.id == *id;
  const Explanation why = explained(manager.store(), run, trial);
  out["advice"] = why.advice;
  if (!why.cause.empty()) out["cause"] = why.cause;
  std::string text = trial_text(trial, objectives);
  if (out["is_best"] == true) text += ", the best so far";
  if (const auto twin = stored_twin(manager.store(), manager.problem_of(run), run, trial)) {
    out["same_as"] = number(*twin);
    text +=
        fmt::format("\nthis is the same code with the same settings as {}: hand in something that differs",
                    trial_name(*twin));
  }
  if (verdict != Verdict::ok) text += why.text();
  if (best && best->outcome.id != *id)
    text += fmt::format("\nbest so far: trial {}, {}", number(best->outcome.id),
                        format_objectives(objectives, best->outcome));
  return replied(text + next_text(manager, run), out);
}

ToolReply RunTools::explain_verdict(const json& arguments, const ToolCall&) const {
  const RunId run = run_of(manager, arguments);
  const StoredTrial trial = trial_of(manager, run, TrialId{arguments["trial"].get<std::uint64_t>()});
  const Evaluation& e = trial.outcome.evaluation;
  const Explanation why = explained(manager.store(), run, trial);
  const Objectives objectives = run_objectives(manager, run);
  json out{{"run", number(run)},
           {"trial", trial_json(trial, objectives, true)},
           {"meaning", verdict_meaning(e)},
           {"advice", why.advice},
           {"progress", e.progress},
           {"features", json::object()},
           {"phases", {{"build", e.phases.build}, {"check", e.phases.check}, {"measure", e.phases.measure}}},
           {"provenance", e.provenance}};
  add_features(e.features, out["features"], false);
  if (!why.cause.empty()) out["cause"] = why.cause;
  std::string text = fmt::format("{}\n{}{}", trial_text(trial, objectives), verdict_meaning(e), why.text());
  if (!trial.outcome.parents.empty()) {
    if (const auto parent = manager.store().trial(run, trial.outcome.parents.front())) {
      std::string compared = "its parent, " + trial_text(*parent, objectives);
      if (trial.outcome.ok() && parent->outcome.ok())
        compared += "; this one: " + against_text(objectives, trial.outcome, parent->outcome);
      out["against_parent"] = compared;
      out["difference"] = difference_json(difference_between(manager.store(), *parent, trial));
      text += "\n" + compared;
    }
  }
  if (arguments.value("code", false) && trial.candidate)
    if (const auto kernel = manager.store().kernel(trial.candidate->kernel))
      out["regions"] = regions_json(*kernel);
  return replied(text, out);
}

ToolReply RunTools::tune(const json& arguments, const ToolCall& call) const {
  const RunId run = run_of(manager, arguments);
  TuneRequest request;
  if (arguments.contains("trial")) request.trial = TrialId{arguments["trial"].get<std::uint64_t>()};
  request.trials = arguments.value("trials", request.trials);
  request.policy = arguments.value("policy", request.policy);
  const Objectives objectives = run_objectives(manager, run);
  CallProgress progress(call, {.trials = request.trials}, objectives);
  const TuneReport report = manager.tune(run, request, {call.stop(), &progress});
  std::vector<StoredTrial> tried;
  for (const TrialId id : report.trials) tried.push_back(trial_of(manager, run, id));
  std::stable_sort(tried.begin(), tried.end(), [](const StoredTrial& a, const StoredTrial& b) {
    return a.outcome.objective < b.outcome.objective;
  });
  json out{{"of", number(report.of)},      {"trials_told", report.trials.size()}, {"best", nullptr},
           {"tried", json::array()},       {"stopped", report.stopped},           {"reason", report.reason},
           {"run", run_json(manager, run)}};
  std::string text = fmt::format("{} configurations of {} tried, {}", report.trials.size(),
                                 trial_name(report.of), report.reason);
  if (report.best) {
    const StoredTrial best = trial_of(manager, run, *report.best);
    out["best"] = trial_json(best, objectives, true);
    text += fmt::format("\n{}: {} at {}", objectives.only_time() ? "fastest" : "best",
                        trial_text(best, objectives), best.candidate ? best.candidate->values : "");
    if (const auto of = manager.store().trial(run, report.of);
        of && of->outcome.ok() && *report.best != report.of)
      text += "; " + against_text(objectives, best.outcome, of->outcome);
  }
  for (const StoredTrial& trial : tried) {
    json one{{"trial", number(trial.outcome.id)},
             {"verdict", to_string(trial.outcome.evaluation.verdict)},
             {"settings", json::parse(trial.candidate ? trial.candidate->values : "{}", nullptr, false)}};
    if (trial.outcome.ok()) {
      one["seconds"] = trial.outcome.evaluation.measurement.seconds;
      json values = objectives_json(objectives, trial.outcome.evaluation);
      if (!values.empty()) one["objectives"] = std::move(values);
    }
    out["tried"].push_back(std::move(one));
  }
  return replied(text + next_text(manager, run), out);
}

ToolReply RunTools::profile(const json& arguments, const ToolCall& call) const {
  const RunId run = run_of(manager, arguments);
  const StoredTrial trial = trial_or_best(manager, run, arguments);
  const TrialId id = trial.outcome.id;
  ProfileReport report;
  {
    CallClock clock(call, "profiling " + trial_name(id));
    report = manager.profile(run, id, {call.stop(), &clock});
  }
  json out{{"run", number(run)},
           {"trial", number(id)},
           {"stopped", report.stopped},
           {"missing", report.missing},
           {"features", json::object()},
           {"gaps", json::object()},
           {"bound", to_string(Bound::unknown)}};
  if (report.stopped) return replied("stopped before it was profiled", out);
  const Evaluation& e = report.evaluation;
  if (e.verdict != Verdict::ok)
    return ToolReply::failed(fmt::format("{} is right, but did not run under the profile: {}: {}",
                                         trial_name(id), shown_verdict(e.verdict, e.overrun), e.reason));
  add_features(e.features, out["features"], arguments.value("counters", false));
  const RooflineGaps gaps = roofline_gaps(e.features);
  out["bound"] = to_string(bound_of(gaps));
  std::string text = fmt::format("{}: bound by {}", trial_name(id), to_string(bound_of(gaps)));
  for (const Axis axis : all_axes) {
    if (!gaps[axis]) continue;
    out["gaps"][std::string(to_string(axis))] = *gaps[axis];
    text += axis == Axis::latency
                ? fmt::format(", waits {:.0f} % of the time", 100 * *gaps[axis])
                : fmt::format(", {:.0f} % of {} unused", 100 * *gaps[axis], to_string(axis));
  }
  if (const auto roof = e.features.find("roof_utilisation"); roof)
    text += fmt::format("; it reaches {:.1f} % of what the roofline allows", *roof);
  StoredTrial seen = trial;
  seen.outcome.evaluation = e;
  text += "\n" + feedback_text(seen.outcome);
  for (const std::string& one : report.missing) text += "not observed: " + one + "\n";
  return replied(text, out);
}

ToolReply RunTools::validate(const json& arguments, const ToolCall& call) const {
  const RunId run = run_of(manager, arguments);
  const TrialId id = trial_or_best(manager, run, arguments).outcome.id;
  ValidationReport report;
  {
    CallClock clock(call, "validating " + trial_name(id));
    report = manager.validate(run, id, arguments.value("tools", ""), {call.stop(), &clock});
  }
  json out{{"run", number(run)},
           {"trial", trial_json(trial_of(manager, run, id), run_objectives(manager, run), false)},
           {"checked", report.checked},
           {"passed", !report.stopped && !report.objection},
           {"stopped", report.stopped}};
  if (report.stopped) return replied("stopped before it was validated", out);
  if (!report.objection)
    return replied(fmt::format("{}: nothing was found by {}", trial_name(id), report.checked), out);
  return replied(fmt::format("{} has lost its verdict: {}: {}", trial_name(id),
                             shown_verdict(report.objection->verdict, report.objection->overrun),
                             report.objection->reason),
                 out);
}

ToolReply RunTools::compare(const json& arguments, const ToolCall& call) const {
  const RunId run = run_of(manager, arguments);
  const StoredTrial trial = trial_of(manager, run, TrialId{arguments["trial"].get<std::uint64_t>()});
  std::optional<TrialId> against;
  if (arguments.contains("against"))
    against = TrialId{arguments["against"].get<std::uint64_t>()};
  else if (!trial.outcome.parents.empty())
    against = trial.outcome.parents.front();
  if (!against)
    return ToolReply::failed(fmt::format("{} has no parent: name the trial to compare it with as against",
                                         trial_name(trial.outcome.id)));
  const StoredTrial other = trial_of(manager, run, *against);
  std::optional<Speedup> speedup;
  {
    CallClock clock(
        call, fmt::format("timing {} in pairs with {}", trial_name(trial.outcome.id), trial_name(*against)));
    speedup = manager.compare(run, trial.outcome.id, *against, {call.stop(), &clock});
  }
  json out{{"run", number(run)},
           {"trial", number(trial.outcome.id)},
           {"against", number(*against)},
           {"stopped", !speedup.has_value()},
           {"difference", difference_json(difference_between(manager.store(), other, trial))}};
  if (!speedup) return replied("stopped before there was a comparison", out);
  const Interval& interval = speedup->interval;
  const char* conclusion = interval.low > 1 ? "faster" : interval.high < 1 ? "slower" : "not told apart";
  out["speedup"] = {
      {"ratio", speedup->ratio}, {"interval", {interval.low, interval.high}}, {"pairs", speedup->pairs}};
  out["conclusion"] = conclusion;
  std::string text = fmt::format("{} is {} times as fast as {}: {} by {} pairs", trial_name(trial.outcome.id),
                                 format_speedup(*speedup), trial_name(*against), conclusion, speedup->pairs);
  const Objectives objectives = run_objectives(manager, run);
  if (!objectives.only_time())
    text += "\npairs compare times, but what counts in this run: " +
            against_text(objectives, trial.outcome, other.outcome);
  return replied(text, out);
}

}  // namespace kernelsearch::detail
