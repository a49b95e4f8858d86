// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <deque>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "commands.hpp"
#include "devices_option.hpp"
#include "input.hpp"
#include "interrupt.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/evaluator/gpu/gpu_device.hpp"
#include "kernelsearch/problem/definition_problem.hpp"
#include "kernelsearch/problem/file_word.hpp"
#include "kernelsearch/run/lane_runs.hpp"
#include "kernelsearch/run/made_problem.hpp"
#include "kernelsearch/run/run.hpp"
#include "kernelsearch/systems/system_registry.hpp"
#include "made_options.hpp"
#include "mlir_options.hpp"
#include "progress.hpp"
#include "result.hpp"
#include "served_beside.hpp"
#include "terminal.hpp"
#include "tune_options.hpp"

namespace kernelsearch::app {
namespace {

/// The problem, where it is one for the options given.
Problem checked_problem(const TuneOptions& o) {
  Problem problem = read_any_problem(o.problem);
  if (o.evaluator != "auto" && o.evaluator != to_string(problem.backend))
    detail::raise<ConfigError>("the problem is for another evaluator", to_string(problem.backend),
                               "leave out --evaluator or change the problem's backend");
  if (!o.baseline.empty()) add_baseline(problem, o.baseline);
  return problem;
}

void say_what_runs(Run& run) {
  const RunInfo info = run.store().run(run.id()).info;
  const RunOptions& o = run.options();
  if (o.system.empty())
    print_clean(stderr, "run {} of {}: {} configurations, policy {}, budget {}\non {}, {}\n",
                number(run.id()), info.problem, run.problem().kernel.space.count().to_string(), info.policy,
                o.budget, info.device, info.toolchain);
  else
    print_clean(stderr, "run {} of {}: system {} ({}), budget {}\non {}, {}\n", number(run.id()),
                info.problem, info.policy, info.generator, o.budget, info.device, info.toolchain);
  const Problem& problem = run.problem();
  std::vector<std::string> folders = problem.build.readable;
  if (problem.external)
    folders.insert(folders.end(), problem.external->readable.begin(), problem.external->readable.end());
  for (const std::string& folder : folders)
    print_clean(stderr, "its commands may read {}, as the problem says\n", folder);
}

/// What `--devices` names, by number.
std::vector<int> devices_of(const TuneOptions& o, const Problem& problem) {
  if (!o.launch.empty() || !o.pools.empty())
    for (const std::string& text : o.devices)
      if (names_platform(text))
        detail::raise<ConfigError>("workers elsewhere have platforms of their own", "--devices " + text,
                                   "give the number that `kernelsearch doctor` says there");
  return ordinals_of("--devices", o.devices, problem);
}

/// Where the winner's files go unless --out says so: in the current folder, whatever the problem is called.
std::string tuned_folder(const std::string& problem) {
  return own_place(file_word(problem) + "_tuned", "remove it, or name it yourself with --out");
}

Run begin(const TuneOptions& o, RunParts parts) {
  RunOptions options = o.run;
  if (o.resume.empty()) {
    const Problem problem = checked_problem(o);
    if (!o.devices.empty()) options.measurement.devices = devices_of(o, problem);
    if (options.out.empty()) options.out = tuned_folder(problem.name);
    parts.problem_path = o.problem;
    parts.baseline_path = o.baseline;
    return Run::start(problem, std::move(options), std::move(parts));
  }
  if (!o.baseline.empty())
    detail::raise<ConfigError>("a run that is resumed keeps its baseline", "--baseline " + o.baseline,
                               "leave it out, or begin a new run");
  const std::optional<RunRow> row = parts.store->find_run(o.resume);
  // A search over configurations goes on as far as it is told to now; a system spends what it was allowed.
  if (options.budget.empty() && row && row->info.generator == "template") options.budget = "200";
  if (row && options.out.empty()) options.out = tuned_folder(row->info.problem);
  if (!o.problem.empty()) {
    parts.problem = read_any_problem(o.problem);
    parts.problem_path = o.problem;
  }
  return Run::resume(o.resume, std::move(options), std::move(parts));
}

ProgressOptions shown_of(Run& run) {
  ProgressOptions shown = progress_options(run.budget(), run.resumed());
  const std::string& system = run.options().system;
  shown.each_failure = !system.empty() && find_system(system).rewrites;
  return shown;
}

/// Writes and prints what a run that has ended came to; the exit code.
int concluded(Run& run, const TuneOptions& o, bool was_interrupted) {
  const RunResult result = run.finish();
  print_result(run.store(), result, o.json);
  if (!o.quiet && !o.json)
    print_clean(stderr, "see `kernelsearch report {0}` (a page of it) and `kernelsearch show {0}`\n",
                number(result.run));
  if (!result.unwritten.empty()) {
    for (const std::string& one : result.unwritten) print_clean(stderr, "{}\n", one);
    print_clean(stderr,
                "kernelsearch: the result above is in the store: `kernelsearch best {}` writes its files\n",
                number(result.run));
    return wrong_input;
  }
  if (was_interrupted) return interrupted;
  if (!result.no_reply.empty()) {
    print_clean(
        stderr,
        "kernelsearch: {}\nThe result above was found without a model, and everything is in the store: "
        "see `kernelsearch doctor --llm`, then go on with `kernelsearch tune --resume {}`\n",
        result.no_reply, number(result.run));
    return no_device;
  }
  return result.best ? success : nothing_found;
}

/// A run for each class of lanes, all at a time; the exit code of the worst.
int tune_apart(const TuneOptions& o, RunStore& store, const Interrupt& interrupt) {
  RunOptions options = o.run;
  const Problem problem = checked_problem(o);
  if (!o.devices.empty()) options.measurement.devices = devices_of(o, problem);
  if (options.out.empty()) options.out = tuned_folder(problem.name);
  Messages messages(o.quiet);
  std::vector<LaneRun> found = lane_runs(problem, std::move(options), interrupt.token(),
                                         [&](const std::string& text) { messages.on_message(text); });
  std::deque<Messages> heard;  // by the runs until their end
  std::vector<Run> runs;
  std::vector<std::string> prefixes;
  int exit_code = success;
  const auto failed = [&](const std::exception& error) {
    print_clean(stderr, "{}\n", error.what());
    exit_code = std::max<int>(exit_code,
                              dynamic_cast<const DeviceError*>(&error) != nullptr ? no_device : wrong_input);
  };
  // All before the first goes on, so that none learns from what another one finds.
  for (std::size_t i = 0; i < found.size(); ++i) {
    const std::string prefix = fmt::format("class {}: ", i + 1);
    if (!o.quiet) print_clean(stderr, "{}{}\n", prefix, found[i].about);
    heard.emplace_back(o.quiet, prefix);
    RunParts parts{.store = &store, .stop = interrupt.token(), .observer = &heard.back()};
    parts.problem_path = o.problem;
    parts.baseline_path = o.baseline;
    try {
      runs.push_back(Run::start(problem, std::move(found[i].options), std::move(parts)));
      prefixes.push_back(prefix);
      if (!o.quiet) say_what_runs(runs.back());
    } catch (const Error& error) {  // the other classes have workers still
      failed(error);
    }
  }
  found.clear();
  std::vector<std::exception_ptr> ends(runs.size());
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < runs.size(); ++i)
      threads.emplace_back([&, i] {
        try {
          Progress progress(o.quiet, shown_of(runs[i]), prefixes[i]);
          runs[i].to_end(progress);
        } catch (...) {
          ends[i] = std::current_exception();
        }
      });
  }
  for (std::size_t i = 0; i < runs.size(); ++i) {
    try {
      if (ends[i]) std::rethrow_exception(ends[i]);
      exit_code = std::max(exit_code, concluded(runs[i], o, interrupt.requested()));
    } catch (const std::exception& error) {
      failed(error);
    }
  }
  return exit_code;
}

}  // namespace

int tune(TuneOptions o) {
  if (is_mlir_file(o.problem)) {
    const std::string folder = own_place(mlir_problem_folder(o.problem, o.mlir).string(),
                                         "remove it, or name a folder to `kernelsearch convert`");
    write_mlir_problem(o.problem, folder, o.mlir);
    print_clean(stderr, "{} written as a problem to {}\n", o.problem, folder);
    o.problem = folder;
  }
  const Interrupt interrupt;
  if (has_problem_maker(o.problem)) {
    o.problem = make_shown_problem(o.problem, {}, o.behind, interrupt.token(), o.quiet).string();
    if (o.problem.empty()) return interrupted;
  } else if (!o.behind.empty()) {
    refuse_arguments_for(o.problem.empty() ? "--resume without PROBLEM" : o.problem);
  }
  RunStore store(o.run.store.empty() ? RunStore::default_path() : o.run.store);
  if (o.other_lanes == "apart") return tune_apart(o, store, interrupt);
  const std::optional<ServedBeside> served =
      o.serve ? std::optional<ServedBeside>(std::in_place, store.file(), o.run.models.record) : std::nullopt;
  Messages messages(o.quiet);
  Run run = begin(o, {.store = &store, .stop = interrupt.token(), .observer = &messages});
  if (!o.quiet) say_what_runs(run);
  {
    Progress progress(o.quiet, shown_of(run));
    run.to_end(progress);
  }
  return concluded(run, o, interrupt.requested());
}

}  // namespace kernelsearch::app
