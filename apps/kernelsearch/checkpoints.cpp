// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <charconv>
#include <memory>
#include <string>
#include <vector>

#include "commands.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/run/run_checkpoints.hpp"
#include "store_access.hpp"
#include "terminal.hpp"

namespace kernelsearch::app {
namespace {

struct CheckpointsCommand {
  std::string run = "latest", action = "list", store, note;
  std::vector<std::string> names;
  bool json = false;
};

/// What an action is given, for its errors.
struct ActionWords {
  const char* action;
  std::size_t least, most;
  const char* words;
};
constexpr ActionWords action_words[] = {{"list", 0, 0, ""},
                                        {"name", 2, 2, "CHECKPOINT-OR-TRIAL NEW-NAME"},
                                        {"branch", 1, 2, "NEW-BRANCH [CHECKPOINT]"},
                                        {"compare", 2, 2, "CHECKPOINT CHECKPOINT"},
                                        {"restore", 1, 1, "CHECKPOINT"},
                                        {"switch", 1, 1, "BRANCH"}};

void check_words(const CheckpointsCommand& command) {
  for (const ActionWords& known : action_words)
    if (command.action == known.action &&
        (command.names.size() < known.least || command.names.size() > known.most))
      throw CLI::ValidationError("checkpoints", fmt::format("{} takes {}", known.action,
                                                            known.most == 0 ? "no names" : known.words));
  if (!command.note.empty() && command.action != "name")
    throw CLI::ValidationError("--note", "is an option of `checkpoints RUN name`");
}

/// The trial that a word means: a checkpoint's, or a trial by its number.
TrialId trial_meant(const CheckpointTree& tree, const std::string& word) {
  if (const Checkpoint* checkpoint = tree.find(word)) return checkpoint->trial;
  std::uint64_t id = 0;
  const auto read = std::from_chars(word.data(), word.data() + word.size(), id);
  if (read.ec != std::errc() || read.ptr != word.data() + word.size()) return tree.at(word).trial;
  return TrialId{id};
}

int run(const CheckpointsCommand& command) {
  RunStore store = open_existing_store(command.store);
  const RunId id = require_run(store, command.run).id;
  RunCheckpoints checkpoints(store, id);
  const std::vector<std::string>& names = command.names;
  using Action = CheckpointEdit::Action;
  std::string said;
  if (command.action == "name") {
    CheckpointEdit edit{Action::name, names[1], "", trial_meant(checkpoints.tree(), names[0])};
    if (!command.note.empty()) edit.note = command.note;
    said = checkpoints.change(edit);
  } else if (command.action == "branch") {
    const Checkpoint* current = checkpoints.tree().current();
    if (names.size() < 2 && current == nullptr)
      detail::raise<ConfigError>("there is no checkpoint that the branch could begin with", names[0],
                                 "name the one that it begins with");
    said = checkpoints.change({Action::branch, names[0], names.size() > 1 ? names[1] : current->name});
  } else if (command.action == "restore") {
    said = checkpoints.change({Action::restore, names[0]});
  } else if (command.action == "switch") {
    said = checkpoints.change({Action::switch_to, names[0]});
  }
  const CheckpointTree& tree = checkpoints.tree();
  if (command.json) {
    print_clean("{}", tree.to_json());
    if (!said.empty()) print_clean(stderr, "{}\n", said);
    return success;
  }
  if (command.action == "compare") {
    print_clean("{}\n{}", checkpoints.compared(names[0], names[1]), tree.compare(names[0], names[1]).diff);
    return success;
  }
  if (!said.empty()) print_clean("{}\n", said);
  if (tree.list().empty())
    print_clean("run {} has no checkpoints yet; `kernelsearch checkpoints {} name TRIAL NAME` makes one\n",
                number(id), number(id));
  print_clean("{}", checkpoints.describe());
  return success;
}

}  // namespace

void add_checkpoints(CLI::App& app, int& exit_code) {
  auto* sub =
      app.add_subcommand("checkpoints", "The checkpoints of a run: list, name, branch, compare, restore");
  auto command = std::make_shared<CheckpointsCommand>();
  sub->add_option("RUN", command->run, "Number or name of the run, or `latest`")->capture_default_str();
  sub->add_option("ACTION", command->action, "list, name, branch, compare, restore or switch")
      ->capture_default_str()
      ->check(CLI::IsMember({"list", "name", "branch", "compare", "restore", "switch"}));
  sub->add_option("NAMES", command->names,
                  "name: CHECKPOINT-OR-TRIAL NEW-NAME; branch: NEW-BRANCH [CHECKPOINT]; compare: CHECKPOINT "
                  "CHECKPOINT; restore: CHECKPOINT; switch: BRANCH");
  sub->add_option("--note", command->note, "name: a remark that stays with the checkpoint");
  sub->add_option("--store", command->store, "SQLite file of runs");
  sub->add_flag("--json", command->json,
                "Print the checkpoints with their code as docs/formats/checkpoints.md has them");
  sub->footer(
      "Examples: kernelsearch checkpoints latest\n"
      "          kernelsearch checkpoints 3 name tb_tiling tiles-of-16 --note 'before the tensor cores'\n"
      "          kernelsearch checkpoints 3 branch fp16 refactor\n"
      "          kernelsearch checkpoints 3 compare refactor tiles-of-16\n"
      "          kernelsearch checkpoints 3 restore tiles-of-16 && kernelsearch tune --resume 3");
  sub->callback([command, &exit_code] {
    check_words(*command);
    exit_code = run(*command);
  });
}

}  // namespace kernelsearch::app
