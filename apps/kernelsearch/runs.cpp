// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <CLI/CLI.hpp>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "commands.hpp"
#include "store_access.hpp"
#include "terminal.hpp"

namespace kernelsearch::app {
namespace {

struct RunsCommand {
  std::string store;
  std::string problem;
  std::size_t limit = 20;
  bool unfinished = false;
  bool json = false;
};

int run(const RunsCommand& command) {
  const RunStore store = open_store_to_read(command.store);
  RunFilter filter;
  filter.problem = command.problem;
  filter.unfinished = command.unfinished;
  filter.limit = command.limit;
  const auto rows = store.runs(filter);
  if (command.json) {
    auto array = nlohmann::ordered_json::array();
    for (const RunRow& row : rows)
      array.push_back(
          {{"run", number(row.id)},
           {"name", row.info.name},
           {"problem", row.info.problem},
           {"policy", row.info.policy},
           {"seed", row.info.seed},
           {"device", row.info.device},
           {"started", row.started},
           {"finished", row.finished ? nlohmann::ordered_json(*row.finished) : nlohmann::ordered_json()},
           {"reason", row.reason},
           {"trials", row.trials},
           {"best_seconds", row.best ? nlohmann::ordered_json(*row.best) : nlohmann::ordered_json()}});
    print_json(array);
    return success;
  }
  print_clean("{:>5}  {:<16} {:<16} {:<22} {:>6}  {:>10}  {:<20}  {}\n", "run", "name", "problem", "policy",
              "trials", "best", "started", "ended");
  for (const RunRow& row : rows)
    print_clean("{:>5}  {:<16} {:<16} {:<22} {:>6}  {:>10}  {:<20}  {}\n", number(row.id), row.info.name,
                row.info.problem, row.info.policy, row.trials, row.best ? seconds_text(*row.best) : "-",
                row.started.substr(0, 19), row.finished ? row.reason : "not finished: --resume");
  return success;
}

}  // namespace

void add_runs(CLI::App& app, int& exit_code) {
  auto* sub = app.add_subcommand("runs", "List the runs in the store, newest first");
  auto command = std::make_shared<RunsCommand>();
  sub->add_option("--store", command->store, "SQLite file of runs");
  sub->add_option("--problem", command->problem, "Only runs of the problem of this name");
  sub->add_option("--limit", command->limit, "At most so many, 0 for all")->capture_default_str();
  sub->add_flag("--unfinished", command->unfinished, "Only runs that can be resumed");
  sub->add_flag("--json", command->json, "Print a JSON array");
  sub->footer("Example: kernelsearch runs --problem matmul");
  sub->callback([command, &exit_code] { exit_code = run(*command); });
}

}  // namespace kernelsearch::app
