// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <CLI/CLI.hpp>

#include <memory>
#include <string>
#include <vector>

#include "commands.hpp"
#include "interrupt.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/recorded/read_recording.hpp"
#include "kernelsearch/recorded/write_recording.hpp"
#include "kernelsearch/run/made_problem.hpp"
#include "made_options.hpp"
#include "mlir_options.hpp"
#include "terminal.hpp"
#include "unit_option.hpp"

namespace kernelsearch::app {
namespace {

struct ConvertCommand {
  std::string in, out, to, space, unit;
  MlirProblemOptions mlir;
  std::vector<std::string> behind;  ///< `--`, for the command that makes a problem
};

int run(const ConvertCommand& command) {
  if (has_problem_maker(command.in)) {
    const Interrupt interrupt;
    const auto made = make_shown_problem(command.in, command.out, command.behind, interrupt.token(), false);
    return made.empty() ? interrupted : success;
  }
  if (!command.behind.empty()) refuse_arguments_for(command.in);
  if (is_mlir_file(command.in)) {
    write_mlir_problem(command.in, command.out, command.mlir);
    print_clean(stderr, "{} written to {}, a problem like any other: see `kernelsearch check {}`\n",
                command.in, command.out, command.out);
    return success;
  }
  std::optional<RecordingFormat> format = recording_format_from(command.to);
  if (!format) format = recording_format_of(command.out);
  if (!format)
    detail::raise<ConfigError>("the file's name does not say its format", command.out,
                               "give --to cachefile, t4, jsonl or csv");
  const Recording recording = read_recording(command.in, {.space = command.space, .unit = command.unit});
  for (const std::string& note : recording.notes) print_clean(stderr, "note: {}\n", note);
  write_recording(recording, command.out, format);
  print_clean(stderr, "{} configurations of {} written to {} as {}\n", recording.trials.size(),
              recording.kernel.empty() ? recording.name : recording.kernel, command.out, to_string(*format));
  return success;
}

}  // namespace

void add_convert(CLI::App& app, int& exit_code, const std::vector<std::string>& behind) {
  auto* sub = app.add_subcommand(
      "convert",
      "Turn a recording into another format, or a schedule of MLIR or a folder with a make_problem.json into "
      "a problem");
  auto command = std::make_shared<ConvertCommand>();
  command->behind = behind;
  sub->add_option("IN", command->in,
                  "A tuner's results, an export, STORE:RUN, a schedule (.mlir), or a folder with a "
                  "make_problem.json, whose command gets what stands behind `--`")
      ->required();
  sub->add_option(
         "OUT", command->out,
         "File to write, packed where it ends in .gz; of a schedule or a folder the problem's folder")
      ->required();
  sub->add_option("--to", command->to, "cachefile, t4, jsonl or csv; default by the name of OUT")
      ->check(CLI::IsMember({"cachefile", "t4", "jsonl", "csv"}));
  sub->add_option("--space", command->space,
                  "T1 file or problem folder that declares the space; default: a T1 file next to IN");
  add_unit_option(*sub, command->unit);
  add_mlir_options(*sub, command->mlir);
  sub->footer(
      "Examples:\n"
      "  kernelsearch convert results.t4.json cache.json.gz\n"
      "  kernelsearch convert runs.db:latest run.csv\n"
      "  kernelsearch convert schedule.mlir mine --payload payload.mlir\n"
      "  kernelsearch convert examples/llvm/program mine -- --compiler clang-19 --plugin "
      "kernelsearch_loops.so");
  sub->callback([sub, command, &exit_code] {
    const bool mlir_only = sub->count("--payload") + sub->count("--function") + sub->count("--reference") > 0;
    if (mlir_only && !is_mlir_file(command->in))
      throw CLI::ValidationError("--payload",
                                 "only a schedule of MLIR (.mlir) has --payload, --function, --reference");
    exit_code = run(*command);
  });
}

}  // namespace kernelsearch::app
