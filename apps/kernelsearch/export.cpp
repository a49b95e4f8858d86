// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <CLI/CLI.hpp>

#include <fstream>
#include <iostream>
#include <memory>
#include <string>

#include "commands.hpp"
#include "kernelsearch/store/export.hpp"
#include "store_access.hpp"

namespace kernelsearch::app {
namespace {

struct ExportCommand {
  std::string run = "latest";
  std::string format = "jsonl";
  std::string output;
  std::string store;
};

int run(const ExportCommand& command) {
  const RunStore store = open_existing_store(command.store);
  const RunRow row = require_run(store, command.run);
  const ExportFormat format = *export_format_from(command.format);
  if (command.output.empty()) {
    export_run(store, row.id, format, std::cout);
    return success;
  }
  std::ofstream file(command.output);
  if (!file)
    detail::raise<ConfigError>("cannot write the export", command.output,
                               "name a file in a folder you may write to");
  export_run(store, row.id, format, file);
  return success;
}

}  // namespace

void add_export(CLI::App& app, int& exit_code) {
  auto* sub = app.add_subcommand("export", "Write a run as JSON Lines, CSV or T4");
  auto command = std::make_shared<ExportCommand>();
  sub->add_option("RUN", command->run, "Number or name of the run, or latest")->capture_default_str();
  sub->add_option("--format", command->format, "jsonl, csv, t4 or t4-metadata")
      ->capture_default_str()
      ->check(CLI::IsMember({"jsonl", "csv", "t4", "t4-metadata"}));
  sub->add_option("-o,--output", command->output, "File to write; default stdout");
  sub->add_option("--store", command->store, "SQLite file of runs");
  sub->footer("Example: kernelsearch export latest --format csv -o run.csv");
  sub->callback([command, &exit_code] { exit_code = run(*command); });
}

}  // namespace kernelsearch::app
