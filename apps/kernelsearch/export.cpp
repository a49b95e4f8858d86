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
  std::string dot;
  std::string store;
};

int run(const ExportCommand& command) {
  const RunStore store = open_existing_store(command.store);
  const RunRow row = require_run(store, command.run);
  const ExportFormat format = command.dot.empty() ? *export_format_from(command.format) : ExportFormat::dot;
  const std::string& output = command.dot.empty() ? command.output : command.dot;
  if (output.empty()) {
    export_run(store, row.id, format, std::cout);
    return success;
  }
  std::ofstream file(output);
  if (!file)
    detail::raise<ConfigError>("cannot write the export", output, "name a file in a folder you may write to");
  export_run(store, row.id, format, file);
  return success;
}

}  // namespace

void add_export(CLI::App& app, int& exit_code) {
  auto* sub = app.add_subcommand("export", "Write a run as JSON Lines, CSV, T4 or DOT");
  auto command = std::make_shared<ExportCommand>();
  sub->add_option("RUN", command->run, "Number or name of the run, or latest")->capture_default_str();
  sub->add_option("--format", command->format, "jsonl, csv, t4, t4-metadata or dot")
      ->capture_default_str()
      ->check(CLI::IsMember({"jsonl", "csv", "t4", "t4-metadata", "dot"}));
  sub->add_option("-o,--output", command->output, "File to write; default stdout");
  sub->add_option("--dot", command->dot, "File for the tree of moves, as --format dot -o FILE");
  sub->add_option("--store", command->store, "SQLite file of runs");
  sub->footer("Example: kernelsearch export latest --format csv -o run.csv");
  sub->callback([command, &exit_code] { exit_code = run(*command); });
}

}  // namespace kernelsearch::app
