// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <CLI/CLI.hpp>

#include <fstream>
#include <iostream>
#include <memory>
#include <optional>
#include <string>

#include "commands.hpp"
#include "kernelsearch/recorded/stored_run.hpp"
#include "kernelsearch/recorded/write_recording.hpp"
#include "kernelsearch/report/answer_text.hpp"
#include "kernelsearch/report/export.hpp"
#include "kernelsearch/report/winner.hpp"
#include "store_access.hpp"
#include "terminal.hpp"

namespace kernelsearch::app {
namespace {

struct ExportCommand {
  std::string run = "latest";
  std::string format = "jsonl";
  std::string output;
  std::string dot;
  std::string store;
  std::string space;
  std::string problem;
};

/// The winner as a file for the tool that its task is of.
std::string answer_of(const RunStore& store, const RunRow& row, AnswerFormat format,
                      const ExportCommand& command) {
  const std::optional<StoredTrial> best = store.best_trial(row.id);
  if (!best)
    detail::raise<ConfigError>("the run has no right candidate", "run " + std::to_string(number(row.id)),
                               "see `kernelsearch show` for what became of them");
  const Problem problem = problem_of_run(row, command.problem);
  return answer_text(problem, winner_source(store, row.id, problem), format,
                     {row.info.device, row.info.toolchain, best->at, &best->outcome.evaluation});
}

int write_cachefile(const RunStore& store, RunId run, const ExportCommand& command) {
  const Recording recording = recording_of(store, run, {.space = command.space});
  if (command.output.empty())
    std::cout << cachefile_text(recording);
  else
    write_recording(recording, command.output, RecordingFormat::cachefile);
  return success;
}

int run(const ExportCommand& command) {
  const RunStore store = open_store_to_read(command.store);
  const RunRow row = require_run(store, command.run);
  if (command.format == "cachefile" && command.dot.empty()) return write_cachefile(store, row.id, command);
  const auto answer = command.dot.empty() ? answer_format_from(command.format) : std::nullopt;
  const ExportFormat format = answer                ? ExportFormat::json_lines
                              : command.dot.empty() ? *export_format_from(command.format)
                                                    : ExportFormat::dot;
  const std::string& output = command.dot.empty() ? command.output : command.dot;
  const std::string text = answer ? answer_of(store, row, *answer, command) : std::string();
  if (answer && output.empty()) {
    print_exact(text);
    return success;
  }
  if (output.empty()) {
    export_run(store, row.id, format, std::cout);
    return success;
  }
  std::ofstream file(output);
  if (!file)
    detail::raise<ConfigError>("cannot write the export", output, "name a file in a folder you may write to");
  if (!answer) {
    export_run(store, row.id, format, file);
    return success;
  }
  file << text << std::flush;
  if (!file) detail::raise<ConfigError>("the export was not written whole", output, "make room for it");
  return success;
}

}  // namespace

void add_export(CLI::App& app, int& exit_code) {
  auto* sub = app.add_subcommand("export",
                                 "Write a run as JSON Lines, CSV, T4, a Kernel Tuner cachefile, DOT or a "
                                 "trace, or its winner as another tool's answer");
  auto command = std::make_shared<ExportCommand>();
  sub->add_option("RUN", command->run, "Number or name of the run, or latest")->capture_default_str();
  sub->add_option(
         "--format", command->format,
         "jsonl, csv, t4, t4-metadata, cachefile, dot or trace (for Perfetto); of the winner of a task in "
         "Python: solution (FlashInfer-Bench), modelnew (KernelBench), submission (GPU MODE), "
         "tritonbench or evaluation-trace (FlashInfer-Bench's traces of the solution)")
      ->capture_default_str()
      ->check(CLI::IsMember({"jsonl", "csv", "t4", "t4-metadata", "cachefile", "dot", "trace", "solution",
                             "modelnew", "submission", "tritonbench", "evaluation-trace"}));
  sub->add_option("-o,--output", command->output, "File to write; default stdout");
  sub->add_option("--dot", command->dot, "File for the tree of moves, as --format dot -o FILE");
  sub->add_option("--store", command->store, "SQLite file of runs");
  sub->add_option("--space", command->space, "cachefile: problem folder or T1 file that declares the space");
  sub->add_option("--problem", command->problem, "Answers: the problem's folder, where it has moved since");
  sub->footer("Example: kernelsearch export latest --format csv -o run.csv");
  sub->callback([command, &exit_code] { exit_code = run(*command); });
}

}  // namespace kernelsearch::app
