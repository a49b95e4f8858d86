// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <CLI/CLI.hpp>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "commands.hpp"
#include "kernelsearch/report/front.hpp"
#include "kernelsearch/report/winner.hpp"
#include "kernelsearch/runtime/settings_table.hpp"
#include "result.hpp"
#include "store_access.hpp"
#include "terminal.hpp"

namespace kernelsearch::app {
namespace {

struct BestCommand {
  std::string run = "latest";
  std::string store;
  std::string out;
  std::string problem;
  std::string table;  ///< that --settings names
  std::string objective;
  bool source = false;
  bool settings = false;
  bool json = false;
};

/// Appends to a run-time table what this run found for each shape.
void append_table(const RunStore& store, const RunRow& row, const Problem& problem, const std::string& file) {
  const std::vector<Settings> settings = best_settings(store, row.id, problem);
  SettingsTable::append(file, settings);
  print_clean(stderr, "{} shapes of {} on {} added to {}\n", settings.size(), problem.name, row.info.device,
              file);
}

/// Prints what the run came to, also where its files cannot be written.
int result_of(const RunStore& store, RunId run, const Problem& problem, const BestCommand& command) {
  RunResult result = stored_result(store, run, problem);
  try {
    if (!command.out.empty()) result = stored_result(store, run, problem, command.out);
  } catch (const Error&) {
    print_result(store, result, command.json);
    throw;
  }
  print_result(store, result, command.json);
  return success;
}

/// Prints, and writes where that is wanted, the trial that is best in one objective.
int result_of_trial(const RunStore& store, const RunRow& row, const Problem& problem, TrialId id,
                    const BestCommand& command) {
  const StoredTrial trial = *store.trial(row.id, id);
  const Evaluation& evaluation = trial.outcome.evaluation;
  const Objectives objectives = objectives_of(row.info);
  const auto values = objectives.try_values(evaluation);
  std::optional<WinnerFiles> files;
  if (!command.out.empty()) files = write_winner(store, row.id, problem, command.out, id);
  if (command.json) {
    nlohmann::ordered_json out{{"run", number(row.id)},
                               {"objective", command.objective},
                               {"trial", number(id)},
                               {"config", nlohmann::ordered_json::parse(trial.candidate->values)},
                               {"seconds", evaluation.measurement.seconds}};
    for (std::size_t i = 0; values && i < values->size(); ++i)
      out["values"][objectives.rows()[i].name] = (*values)[i];
    if (files) out["files"] = {{"source", files->source.string()}, {"settings", files->settings.string()}};
    print_json(out);
    return success;
  }
  print_clean("best in {}: trial {} of run {}\n", command.objective, number(id), number(row.id));
  for (std::size_t i = 0; values && i < values->size(); ++i)
    print_clean("{:<20} {}, {}\n", objectives.rows()[i].name,
                format_objective(objectives.rows()[i], (*values)[i]),
                better_words(objectives.rows()[i], evaluation));
  print_clean("{:<20} {}\n", "settings", settings_line(trial));
  if (files) print_clean("{:<20} {}\n", "source", files->source.string());
  return success;
}

int run(const BestCommand& command) {
  const RunStore store = open_store_to_read(command.store);
  const RunRow row = require_run(store, command.run);
  if (!store.best_trial(row.id)) {
    print_clean(stderr, "kernelsearch: run {} has no right candidate; see `kernelsearch show {}`\n",
                number(row.id), number(row.id));
    return nothing_found;
  }
  const Problem problem = problem_of_run(row, command.problem);
  std::optional<TrialId> trial;
  if (!command.objective.empty()) trial = best_trial_by(store, row.id, command.objective)->outcome.id;
  if (command.source)
    print_exact(winner_source(store, row.id, problem, trial));
  else if (command.settings && !command.table.empty())
    append_table(store, row, problem, command.table);
  else if (command.settings)
    print_exact(winner_settings(store, row.id, problem, trial));
  else if (trial)
    return result_of_trial(store, row, problem, *trial, command);
  else
    return result_of(store, row.id, problem, command);
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
  auto* settings =
      sub->add_option("--settings", command->table,
                      "Print its settings as a C++ header; with TABLE after RUN: add the best of each "
                      "shape to this run-time table")
          ->expected(0, 1)
          ->type_name("[TABLE]")
          ->excludes(source);
  sub->add_option("--objective", command->objective,
                  "The trial that is best in this objective alone, of a run with several")
      ->type_name("NAME");
  sub->add_flag("--json", command->json, "Print one JSON object");
  sub->footer(
      "Examples:\n"
      "  kernelsearch best latest --source > fast.cpp\n"
      "  kernelsearch best latest --settings table.jsonl     for SettingsTable::load at run time");
  sub->callback([sub, settings, command, &exit_code] {
    command->settings = settings->count() > 0;
    // `best --settings 3` has always meant run 3.
    if (sub->get_option("RUN")->count() == 0 && !command->table.empty())
      command->run = std::exchange(command->table, "");
    exit_code = run(*command);
  });
}

}  // namespace kernelsearch::app
