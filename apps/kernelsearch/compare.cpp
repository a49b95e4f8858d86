// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <fmt/core.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "commands.hpp"
#include "compare_tables.hpp"
#include "input.hpp"
#include "interrupt.hpp"
#include "kernelsearch/compare/comparison.hpp"
#include "kernelsearch/compare/html_report.hpp"
#include "kernelsearch/compare/paired_test.hpp"
#include "kernelsearch/compare/report_figures.hpp"
#include "kernelsearch/compare/scores.hpp"
#include "kernelsearch/compare/trace_file.hpp"
#include "kernelsearch/compare/write_scores.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/core/nearest.hpp"
#include "kernelsearch/recorded/earlier_run.hpp"
#include "kernelsearch/recorded/read_recording.hpp"
#include "kernelsearch/report/format.hpp"
#include "kernelsearch/run/run_budget.hpp"
#include "own_policies.hpp"
#include "terminal.hpp"
#include "unit_option.hpp"

namespace kernelsearch::app {
namespace {

namespace fs = std::filesystem;

struct CompareCommand {
  std::vector<std::string> spaces, policies, traces, learn_from;
  std::uint64_t repeats = 20, seed = 0;
  std::string budget, out, against, unit;
  std::size_t jobs = 0, in_flight = 1, bootstrap = 500;
  OwnPolicies own;
  bool leave_one_out = false, declared_default = false, strict = false, json = false, quiet = false;
};

/// The file's name without folder and extensions.
std::string recording_name(const fs::path& file) {
  std::string name = file.filename().string();
  for (const std::string_view extension : {".gz", ".json"})
    if (name.ends_with(extension)) name.resize(name.size() - extension.size());
  return name;
}

/// The recordings in a folder, by name. A T4 copy (`X_T4`) of a recording that is there too is left out.
std::vector<fs::path> recordings_in(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (!entry.is_regular_file() || name.ends_with(".t1.json")) continue;
    if (name.ends_with(".json") || name.ends_with(".json.gz")) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  const std::vector<fs::path> all = files;
  std::erase_if(files, [&](const fs::path& file) {
    const std::string name = recording_name(file);
    return name.ends_with("_T4") && std::any_of(all.begin(), all.end(), [&](const fs::path& other) {
             return recording_name(other) + "_T4" == name;
           });
  });
  if (files.empty())
    detail::raise<ConfigError>("no recordings in the folder", folder.string(),
                               "give a folder of .json or .json.gz files, or files");
  return files;
}

std::vector<Recording> read_all(const std::vector<std::string>& given, const std::string& unit) {
  std::vector<fs::path> files;
  for (const std::string& path : given) {
    if (!fs::is_directory(path)) {
      files.emplace_back(path);
      continue;
    }
    const auto inside = recordings_in(path);
    files.insert(files.end(), inside.begin(), inside.end());
  }
  std::vector<Recording> recordings;
  for (const fs::path& file : files) recordings.push_back(read_recording(file, {.unit = unit}));
  return recordings;
}

std::vector<Contestant> contestants_of(const std::vector<ExternalPolicy>& policies) {
  std::vector<Contestant> contestants;
  for (const ExternalPolicy& policy : policies)
    contestants.push_back({policy.name, policy.make, policy.own_process});
  return contestants;
}

/// For each recording what policies may learn from: never the recording itself.
std::vector<std::vector<EarlierRun>> earlier_runs_of_recordings(const CompareCommand& command,
                                                                const std::vector<Recording>& recordings) {
  if (command.learn_from.empty() && !command.leave_one_out) return {};
  const std::vector<Recording> given = read_all(command.learn_from, command.unit);
  std::vector<const Recording*> sources;
  if (command.leave_one_out)
    for (const Recording& recording : recordings) sources.push_back(&recording);
  for (const Recording& recording : given)
    if (std::none_of(sources.begin(), sources.end(),
                     [&](const Recording* other) { return other->name == recording.name; }))
      sources.push_back(&recording);
  std::vector<std::vector<EarlierRun>> earlier(recordings.size());
  for (std::size_t i = 0; i < recordings.size(); ++i) {
    std::string names;
    for (const Recording* source : sources) {
      if (source->name == recordings[i].name) continue;
      if (auto run = earlier_run(*source, recordings[i].space)) {
        names += (names.empty() ? "" : ", ") + run->source;
        earlier[i].push_back(*std::move(run));
      }
    }
    if (!command.quiet)
      print_clean(stderr, "{}: policies may learn from {}\n", recordings[i].name,
                  names.empty() ? "nothing" : names);
  }
  return earlier;
}

/// One line on stderr that is drawn again on a terminal, else a line every ten seconds.
class RunsLine {
 public:
  void operator()(const ComparisonProgress& progress) {
    const bool all = progress.finished == progress.runs;
    if (!all && progress.elapsed_seconds < next_) return;
    next_ = progress.elapsed_seconds + (terminal_ ? 0.1 : 10.0);
    const std::string left = all ? "done"
                             : std::isinf(progress.left_seconds)
                                 ? "time left unknown"
                                 : format_duration(progress.left_seconds) + " left";
    const std::string text = fmt::format("{} of {} runs, {} gone, {}", progress.finished, progress.runs,
                                         format_duration(progress.elapsed_seconds), left);
    if (terminal_)
      print_status(text);
    else
      print_clean(stderr, "{}", text);
    if (!terminal_ || all) print_clean(stderr, "\n");
    open_ = terminal_ && !all;
  }
  void close() {
    if (open_) print_clean(stderr, "\n");
    open_ = false;
  }

 private:
  bool terminal_ = ::isatty(STDERR_FILENO) == 1;
  bool open_ = false;
  double next_ = terminal_ ? 0.0 : 10.0;
};

void write_file(const fs::path& file, const std::string& text) {
  std::error_code error;
  if (fs::is_symlink(file, error))
    detail::raise<ConfigError>("a link is where a file is to be written", file.string(),
                               "remove it, or name another folder with --out");
  std::ofstream out(file, std::ios::binary | std::ios::trunc);
  out << text;
  out.close();
  if (!out) detail::raise<ConfigError>("cannot write", file.string(), "give a folder that can be written to");
}

/// Before the runs, because they take long.
void check_opponent(const std::string& name, const std::vector<Contestant>& contestants,
                    const std::vector<Trace>& others) {
  std::vector<std::string> names;
  for (const Contestant& contestant : contestants) names.push_back(contestant.name);
  for (const Trace& trace : others) names.push_back(trace.strategy);
  if (name.empty() || std::find(names.begin(), names.end(), name) != names.end()) return;
  const std::string nearest = nearest_name(name, names);
  detail::raise<ConfigError>("--against names none of the policies compared", name,
                             nearest.empty() ? "name one of --policies" : "did you mean " + nearest + "?");
}

/// Whom all others are tested against: the one named, else the best by P.
std::string opponent(const CompareCommand& command, const std::vector<PolicyScores>& scores) {
  if (!command.against.empty()) return command.against;
  const auto best = std::max_element(scores.begin(), scores.end(), [](const auto& a, const auto& b) {
    return a.areas.front().value < b.areas.front().value;
  });
  return best->strategy;
}

/// How it was made, in words.
ReportSettings settings_of(const CompareCommand& command, const std::vector<ExternalPolicy>& policies) {
  ReportSettings settings;
  settings.repeats = command.repeats;
  settings.budget = command.budget.empty() ? "the evaluations that are scored of the space, but at least 200"
                                           : command.budget + " (evaluations, or seconds of recorded time)";
  settings.in_flight = command.in_flight;
  settings.declared_default = command.declared_default;
  settings.strict = command.strict;
  std::string learned;
  for (const std::string& file : command.learn_from) learned += (learned.empty() ? "" : ", ") + file;
  if (command.leave_one_out)
    learned += std::string(learned.empty() ? "" : ", and ") + "the other spaces with the same tunables";
  if (!learned.empty()) settings.learned_from = learned;
  for (const ExternalPolicy& policy : policies)
    if (policy.source != "built in") settings.own_policies.emplace_back(policy.name, policy.source);
  return settings;
}

int run(const CompareCommand& command) {
  const Interrupt interrupt;
  if (!command.out.empty())
    own_place((fs::path(command.out) / "figures").string(), "remove it, or name another folder with --out");
  const std::vector<ExternalPolicy> policies = chosen_policies(command.policies, command.own);
  const std::vector<Contestant> contestants = contestants_of(policies);
  const std::vector<Recording> recordings = read_all(command.spaces, command.unit);
  const std::vector<Landscape> landscapes = landscapes_of(recordings);
  std::vector<Trace> others;
  for (const std::string& file : command.traces)
    for (Trace& trace : read_traces(file, landscapes)) others.push_back(std::move(trace));
  check_opponent(command.against, contestants, others);

  ComparisonOptions options;
  options.repeats = command.repeats;
  options.seed = command.seed;
  if (!command.budget.empty()) {
    const RunBudget budget = parse_budget(command.budget);
    options.budget = budget.trials;
    options.recorded_seconds = budget.seconds;
  }
  options.threads = command.jobs;
  options.in_flight = command.in_flight;
  options.declared_default = command.declared_default;
  options.strict = command.strict;
  options.folder = command.out;
  options.stop = interrupt.token();
  options.earlier = earlier_runs_of_recordings(command, recordings);
  RunsLine line;
  if (!command.quiet) options.progress = [&line](const ComparisonProgress& progress) { line(progress); };
  std::vector<Trace> traces = compare(recordings, landscapes, contestants, options);
  line.close();
  traces.insert(traces.end(), others.begin(), others.end());
  if (traces.empty()) return interrupted;

  const std::vector<PolicyScores> scores = score(landscapes, traces, {.bootstrap = command.bootstrap});
  const std::string against = opponent(command, scores);
  const std::vector<PairedDifference> paired = paired_differences(landscapes, traces, against);
  const Differences differences{scores.size() > 1 ? against : std::string_view(), paired};
  if (!command.out.empty()) {
    const fs::path folder = command.out;
    write_file(folder / "scores.json", scores_to_json(scores, differences));
    write_file(folder / "scores.csv", scores_to_csv(scores));
    write_file(folder / "scores.tex", scores_to_latex(scores, differences));
    const ReportContents contents{landscapes,  traces,       scores,
                                  differences, command.seed, settings_of(command, policies)};
    write_file(folder / "report.html", html_report(contents));
    fs::create_directories(folder / "figures");
    for (const ReportFigureFile& figure : report_figures(contents))
      write_file(folder / "figures" / figure.name, figure.svg);
    if (!command.quiet)
      print_clean(stderr,
                  "traces.jsonl, scores.json, scores.csv, scores.tex, report.html and figures/ are in {}\n",
                  folder.string());
  }
  if (command.json)
    print_clean("{}", scores_to_json(scores, differences));
  else
    print_clean("{}", comparison_tables(scores, differences));
  return interrupt.requested() ? interrupted : success;
}

}  // namespace

void add_compare(CLI::App& app, int& exit_code) {
  auto* sub = app.add_subcommand("compare", "Compare search policies on recorded spaces");
  auto command = std::make_shared<CompareCommand>();
  sub->add_option("SPACE", command->spaces, "Recordings, or a folder of them")->required();
  sub->add_option("--policies", command->policies,
                  "Names, joined by commas, with options where some are given: "
                  "'genetic(population=40),bayesian'; all: every one but exhaustive");
  add_own_policies(*sub, command->own);
  sub->add_flag(
      "--strict", command->strict,
      "End where a policy proposes a configuration again, leaves the space or ends early; else that "
      "is counted and shown");
  sub->add_option("--repeats", command->repeats, "Runs of each policy on each space")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  sub->add_option(
      "--budget", command->budget,
      "For each run: evaluations (60), recorded time (30s, 5m), or both; default: what is scored of "
      "the space, at least 200 evaluations");
  sub->add_option("--seed", command->seed, "Seed of all runs")->capture_default_str();
  sub->add_option("--jobs", command->jobs, "Runs at a time; 0: one for each core")->capture_default_str();
  sub->add_option("--in-flight", command->in_flight, "Evaluations that each run has outstanding")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  sub->add_flag(
      "--declared-default", command->declared_default,
      "Policies see the default that the space declares, as in tune; else a random one for each repeat");
  sub->add_option("--out", command->out,
                  "Folder for traces, scores and the report; what is there already is not run again");
  sub->add_option("--against", command->against, "Whom all are tested against; default: the best");
  add_unit_option(*sub, command->unit);
  sub->add_option("--traces", command->traces, "Traces of other tuners to be scored as well (JSON Lines)");
  sub->add_option("--learn-from", command->learn_from,
                  "Recordings that policies may learn from, on spaces with the same tunables");
  sub->add_flag("--leave-one-out", command->leave_one_out,
                "Policies may learn from the other spaces that have the same tunables");
  sub->add_option("--boot", command->bootstrap, "Resamplings for the intervals; 0: no intervals")
      ->capture_default_str();
  sub->add_flag("--json", command->json, "Print the scores as JSON instead of tables");
  sub->add_flag("-q,--quiet", command->quiet, "No progress on stderr");
  sub->footer(
      "Examples:\n"
      "  kernelsearch compare recordings/ --policies random,iterated_local_search --out compared\n"
      "  kernelsearch compare recordings/ --policies 'genetic(population=40),genetic,bayesian'\n"
      "  kernelsearch compare recordings/ --policies bayesian,mine --policy-command 'python3 mine.py' "
      "--strict");
  sub->callback([command, &exit_code] { exit_code = run(*command); });
}

}  // namespace kernelsearch::app
