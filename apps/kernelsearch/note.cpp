// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <CLI/CLI.hpp>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "commands.hpp"
#include "kernelsearch/store/run_notes.hpp"
#include "store_access.hpp"
#include "terminal.hpp"

namespace kernelsearch::app {
namespace {

struct NoteCommand {
  std::string run, store;
  std::optional<std::string> text;
  std::vector<std::string> tags, untags;
};

int note(const NoteCommand& command) {
  const RunStore store = open_store_to_read(command.store);
  const RunRow row = require_run(store, command.run);
  const RunNotes notes(store.file());
  RunNote said = notes.of(row);
  if (command.text || !command.tags.empty() || !command.untags.empty()) {
    if (command.text) said.text = *command.text;
    for (const std::string& tag : command.untags)
      said.tags.erase(std::remove(said.tags.begin(), said.tags.end(), tag), said.tags.end());
    said.tags.insert(said.tags.end(), command.tags.begin(), command.tags.end());
    said = notes.set(row, said);
  }
  print_clean("run {}: {}\n", number(row.id), said.tags.empty() ? "no tags" : joined_tags(said));
  if (!said.text.empty()) print_clean("{}\n", said.text);
  return success;
}

}  // namespace

void add_note(CLI::App& app, int& exit_code) {
  auto* sub = app.add_subcommand("note", "Tags and a note of a run: shown, or changed");
  auto command = std::make_shared<NoteCommand>();
  sub->add_option("RUN", command->run, "Number or name of the run, or `latest`")->required();
  sub->add_option("TEXT", command->text, "The note, in place of what there was; '' removes it");
  sub->add_option("--tag", command->tags, "Adds a tag; may be given several times")->allow_extra_args(false);
  sub->add_option("--untag", command->untags, "Removes a tag")->allow_extra_args(false);
  sub->add_option("--store", command->store, "SQLite file of runs");
  sub->footer("Example: kernelsearch note 3 'with the fans at full speed' --tag baseline");
  sub->callback([command, &exit_code] { exit_code = note(*command); });
}

}  // namespace kernelsearch::app
