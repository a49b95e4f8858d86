// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "call_progress.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/report/render_report.hpp"
#include "kernelsearch/report/summary.hpp"
#include "kernelsearch/report/winner.hpp"
#include "kernelsearch/run/report_extras.hpp"
#include "kernelsearch/run/run_option.hpp"
#include "problem/replace_file.hpp"
#include "run_json.hpp"
#include "tool_kit.hpp"

/// Tools that begin runs, let them work and say how they stand.
namespace kernelsearch::detail {
ToolReply RunTools::start_run(const json& arguments, const ToolCall& call) const {
  RunRequest request;
  request.problem = arguments.value("problem", "");
  if (const auto inlined = arguments.find("problem_json"); inlined != arguments.end())
    request.problem_text = inlined->is_string() ? inlined->get<std::string>() : inlined->dump(1);
  for (const RunOption& option : run_options())
    if (const auto given = arguments.find(option.name);
        given != arguments.end() && !option.for_agents.empty())
      if (const Result<void> set = try_set_run_options(request.options, {{std::string(option.name), *given}});
          !set)
        raise_config_error(set.error());
  request.name = request.options.name;
  CallProgress progress(call, {}, manager.objectives_of(request));
  const std::optional<RunId> run = manager.start(request, {call.stop(), &progress});
  if (!run) return ToolReply::failed("stopped before the run began");
  const json row = run_json(manager, *run);
  std::string text = run_text(manager, row);
  if (request.options.policy == "submit")
    text += next_text(manager, *run);
  else
    text += fmt::format("\nlet it work with step, e.g. {{\"run\": {}, \"seconds\": 30}}", number(*run));
  return replied(text, row);
}

ToolReply RunTools::step(const json& arguments, const ToolCall& call) const {
  const RunId run = run_of(manager, arguments);
  if (const auto why = arguments.find("decline"); why != arguments.end()) {
    CallProgress progress(call, {.trials = 1}, run_objectives(manager, run));
    manager.decline(run, why->get<std::string>(), {call.stop(), &progress});
  }
  StepLimit limit;
  if (arguments.contains("trials")) limit.trials = arguments["trials"].get<std::uint64_t>();
  if (arguments.contains("seconds")) limit.seconds = arguments["seconds"].get<double>();
  CallProgress progress(call, limit, run_objectives(manager, run));
  const StepReport report = manager.step(run, limit, {call.stop(), &progress});
  const json row = run_json(manager, run);
  return replied(fmt::format("{} trials told, {}\n{}{}", report.trials, report.reason, run_text(manager, row),
                             next_text(manager, run)),
                 {{"trials_told", report.trials},
                  {"finished", report.finished},
                  {"stopped", report.stopped},
                  {"reason", report.reason},
                  {"run", row}});
}

ToolReply RunTools::status(const json& arguments, const ToolCall&) const {
  json out{{"runs", json::array()},
           {"root", manager.root().path().string()},
           {"store", manager.store().file().string()}};
  if (arguments.contains("run")) {
    const RunId run = run_of(manager, arguments);
    out["runs"].push_back(run_json(manager, run));
    std::string text = run_text(manager, out["runs"][0]) + next_text(manager, run);
    if (const auto wanted = arguments.value("trials", std::size_t{0}); wanted > 0) {
      const std::vector<StoredTrial> trials = manager.store().trials(run);
      const Objectives objectives = run_objectives(manager, run);
      json& list = out["trials"] = json::array();
      for (std::size_t i = trials.size() - std::min(wanted, trials.size()); i < trials.size(); ++i) {
        list.push_back(trial_json(trials[i], objectives, false));
        text += "\n" + trial_text(trials[i], objectives);
      }
    }
    return replied(text, out);
  }
  RunFilter filter;
  filter.limit = arguments.value("limit", std::size_t{20});
  std::string text;
  for (const RunRow& row : manager.store().runs(filter)) {
    out["runs"].push_back(run_json(manager, row.id));
    text += (text.empty() ? "" : "\n") + run_text(manager, out["runs"].back());
  }
  return replied(text.empty() ? "no runs yet; begin one with start_run" : text, out);
}

ToolReply RunTools::best(const json& arguments, const ToolCall&) const {
  const RunId run = run_of(manager, arguments);
  const std::optional<StoredTrial> best = manager.store().best_trial(run);
  if (!best)
    return ToolReply::failed(
        fmt::format("run {} has no right candidate yet: look at its verdicts with status and "
                    "explain_verdict, or go on with step",
                    number(run)));
  json out{{"run", number(run)},
           {"best", trial_json(*best, run_objectives(manager, run), true)},
           {"provenance", best->outcome.evaluation.provenance}};
  std::string text = run_summary(manager.store(), run);
  const std::string code = arguments.value("code", "source");
  if (code == "source") {
    out["source"] = winner_source(manager.store(), run, manager.problem_of(run));
    text += fmt::format("\nits code is `source`, {} bytes", out["source"].get<std::string>().size());
  } else if (code == "regions" && best->candidate) {
    if (const auto kernel = manager.store().kernel(best->candidate->kernel))
      out["regions"] = regions_json(*kernel);
  }
  return replied(text, out);
}

ToolReply RunTools::report(const json& arguments, const ToolCall&) const {
  const RunId run = run_of(manager, arguments);
  const std::string format = arguments.value("format", "text");
  json out{{"run", run_json(manager, run)}};
  std::string text = run_summary(manager.store(), run);
  if (format == "text") out["text"] = text;
  if (format == "json") {
    std::vector<StoredTrial> trials = manager.store().trials(run);
    std::stable_sort(trials.begin(), trials.end(), [](const StoredTrial& a, const StoredTrial& b) {
      return a.outcome.objective < b.outcome.objective;
    });
    trials.resize(std::min(trials.size(), arguments.value("limit", std::size_t{200})));
    const Objectives objectives = run_objectives(manager, run);
    json& list = out["trials"] = json::array();
    for (const StoredTrial& trial : trials) list.push_back(trial_json(trial, objectives, false));
  }
  if (format == "html") {
    (void)create_private_folders(options.reports);
    const auto path = options.reports / fmt::format("run_{}.html", number(run));
    const ReportModel whole = report_of(manager.store(), run, report_extras(manager.store(), run));
    if (replace_private_file(path, report_html({&whole, 1})))
      detail::raise<ConfigError>("the report cannot be written", path.string(),
                                 "the server's disk is full or read-only: ask for format text or json");
    out["path"] = path.string();
    text += "page      " + path.string() + "\n";
  }
  return replied(text, out);
}

ToolReply RunTools::cancel(const json& arguments, const ToolCall&) const {
  const RunId run = run_of(manager, arguments);
  const bool worked = manager.cancel(run);
  const json row = run_json(manager, run);
  return replied((worked ? "stopped; " : "nothing was working on it; ") + run_text(manager, row),
                 {{"was_working", worked}, {"run", row}});
}

}  // namespace kernelsearch::detail
