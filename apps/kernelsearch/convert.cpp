// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include <memory>
#include <string>

#include "commands.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/recorded/read_recording.hpp"
#include "kernelsearch/recorded/write_recording.hpp"

namespace kernelsearch::app {
namespace {

struct ConvertCommand {
  std::string in, out, to, space;
};

int run(const ConvertCommand& command) {
  std::optional<RecordingFormat> format = recording_format_from(command.to);
  if (!format) format = recording_format_of(command.out);
  if (!format)
    detail::raise<ConfigError>("the file's name does not say its format", command.out,
                               "give --to cachefile, t4, jsonl or csv");
  const Recording recording = read_recording(command.in, {.space = command.space});
  for (const std::string& note : recording.notes) fmt::print(stderr, "note: {}\n", note);
  write_recording(recording, command.out, format);
  fmt::print(stderr, "{} configurations of {} written to {} as {}\n", recording.trials.size(),
             recording.kernel.empty() ? recording.name : recording.kernel, command.out, to_string(*format));
  return success;
}

}  // namespace

void add_convert(CLI::App& app, int& exit_code) {
  auto* sub = app.add_subcommand("convert", "Turn a recording into another format");
  auto command = std::make_shared<ConvertCommand>();
  sub->add_option("IN", command->in, "Cachefile, T4 results, JSON Lines, CSV, or STORE:RUN")->required();
  sub->add_option("OUT", command->out, "File to write; packed where it ends in .gz")->required();
  sub->add_option("--to", command->to, "cachefile, t4, jsonl or csv; default by the name of OUT")
      ->check(CLI::IsMember({"cachefile", "t4", "jsonl", "csv"}));
  sub->add_option("--space", command->space,
                  "T1 file or problem folder that declares the space; default a T1 file beside IN");
  sub->footer(
      "Examples:\n"
      "  kernelsearch convert results.t4.json cache.json.gz\n"
      "  kernelsearch convert runs.db:latest run.csv");
  sub->callback([command, &exit_code] { exit_code = run(*command); });
}

}  // namespace kernelsearch::app
