// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "commands.hpp"
#include "kernelsearch/problem/read_problem.hpp"
#include "kernelsearch/report/winner.hpp"
#include "result.hpp"
#include "store_access.hpp"

namespace kernelsearch::app {
namespace {

struct BestCommand {
  std::string run = "latest";
  std::string store;
  std::string out;
  std::string problem;
  bool source = false;
  bool settings = false;
  bool json = false;
};

int run(const BestCommand& command) {
  const RunStore store = open_existing_store(command.store);
  const RunRow row = require_run(store, command.run);
  if (!store.best_trial(row.id)) {
    fmt::print(stderr, "kernelsearch: run {} has no right candidate; see `kernelsearch show {}`\n",
               number(row.id), number(row.id));
    return nothing_found;
  }
  // The run remembers where its problem was; the code itself comes from the store.
  const std::string remembered = nlohmann::json::parse(row.info.options).value("problem", "");
  const Problem problem = read_problem(command.problem.empty() ? remembered : command.problem);
  if (command.source)
    fmt::print("{}", winner_source(store, row.id, problem));
  else if (command.settings)
    fmt::print("{}", winner_settings(store, row.id, problem));
  else
    print_result(store, stored_result(store, row.id, problem, command.out), command.json);
  return success;
}

}  // namespace

void add_best(CLI::App& app, int& exit_code) {
  auto* sub = app.add_subcommand("best", "Show or write the winner of a run");
  auto command = std::make_shared<BestCommand>();
  sub->add_option("RUN", command->run, "Number or name of the run, or latest")->capture_default_str();
  sub->add_option("--store", command->store, "SQLite file of runs");
  sub->add_option("--out", command->out,
                  "Write source, settings, record and run-time table into this folder");
  sub->add_option("--problem", command->problem, "The problem's folder, where it has moved since");
  auto* source = sub->add_flag("--source", command->source, "Print the winner as ready-to-use source");
  sub->add_flag("--settings", command->settings, "Print its settings as a C++ header")->excludes(source);
  sub->add_flag("--json", command->json, "Print one JSON object");
  sub->footer("Example: kernelsearch best latest --source > fast.cpp");
  sub->callback([command, &exit_code] { exit_code = run(*command); });
}

}  // namespace kernelsearch::app
