// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <CLI/CLI.hpp>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "commands.hpp"
#include "kernelsearch/report/front.hpp"
#include "kernelsearch/store/run_notes.hpp"
#include "store_access.hpp"
#include "terminal.hpp"

namespace kernelsearch::app {
namespace {

struct RunsCommand {
  std::string store;
  std::string problem;
  std::vector<std::string> tags;
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
  if (!command.tags.empty()) filter.limit = 0;  // of all runs, as many as were asked for have the tags
  auto rows = store.runs(filter);
  const RunNotes notes(store.file());
  if (!command.tags.empty()) {
    const auto lacks = [&](const RunRow& row) {
      const std::vector<std::string> its = notes.of(row).tags;
      return std::any_of(command.tags.begin(), command.tags.end(), [&its](const std::string& tag) {
        return std::find(its.begin(), its.end(), tag) == its.end();
      });
    };
    rows.erase(std::remove_if(rows.begin(), rows.end(), lacks), rows.end());
    if (command.limit > 0 && rows.size() > command.limit) rows.resize(command.limit);
  }
  if (command.json) {
    auto array = nlohmann::ordered_json::array();
    for (const RunRow& row : rows) {
      const RunNote note = notes.of(row);
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
           {"best_seconds", row.best && objectives_of(row.info).only_time()
                                ? nlohmann::ordered_json(*row.best)
                                : nlohmann::ordered_json()},
           {"objectives", objectives_of(row.info).text()},
           {"tags", note.tags},
           {"note", note.text}});
    }
    print_json(array);
    return success;
  }
  print_clean("{:>5}  {:<16} {:<16} {:<22} {:>6}  {:>10}  {:<20}  {}\n", "run", "name", "problem", "policy",
              "trials", "best", "started", "ended");
  for (const RunRow& row : rows) {
    const RunNote note = notes.of(row);
    print_clean("{:>5}  {:<16} {:<16} {:<22} {:>6}  {:>10}  {:<20}  {}{}\n", number(row.id), row.info.name,
                row.info.problem, row.info.policy, row.trials,
                row.best ? format_best(row.info, *row.best) : "-", row.started.substr(0, 19),
                row.finished ? row.reason : "not finished: --resume",
                note.tags.empty() ? "" : " [" + joined_tags(note) + "]");
  }
  return success;
}

}  // namespace

void add_runs(CLI::App& app, int& exit_code) {
  auto* sub = app.add_subcommand("runs", "List the runs in the store, newest first");
  auto command = std::make_shared<RunsCommand>();
  sub->add_option("--store", command->store, "SQLite file of runs");
  sub->add_option("--problem", command->problem, "Only runs of the problem of this name");
  sub->add_option("--tag", command->tags, "Only runs with this tag; of several, with all of them")
      ->allow_extra_args(false);
  sub->add_option("--limit", command->limit, "At most so many, 0 for all")->capture_default_str();
  sub->add_flag("--unfinished", command->unfinished, "Only runs that can be resumed");
  sub->add_flag("--json", command->json, "Print a JSON array");
  sub->footer("Example: kernelsearch runs --problem matmul");
  sub->callback([command, &exit_code] { exit_code = run(*command); });
}

}  // namespace kernelsearch::app
