// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/agents/checkpoint_edit.hpp"

#include <nlohmann/json.hpp>
#include <string_view>

#include "kernelsearch/core/error.hpp"
#include "problem/json_cursor.hpp"

namespace kernelsearch {
namespace {

constexpr std::string_view edit_names[] = {"name", "restore", "branch", "switch"};

void refuse_closed(const Checkpoint& checkpoint) {
  if (checkpoint.closed)
    detail::raise<ConfigError>("this checkpoint is closed", checkpoint.name,
                               "its trial is not right any more: take another one");
}

}  // namespace

void apply(const CheckpointEdit& edit, CheckpointTree& tree) {
  switch (edit.action) {
    case CheckpointEdit::Action::name: {
      const Checkpoint* const known = edit.trial ? tree.find(*edit.trial) : nullptr;
      if (known == nullptr)
        detail::raise<ConfigError>("no checkpoint is of this trial",
                                   edit.trial ? std::to_string(number(*edit.trial)) : "none",
                                   "name the trial of a right kernel");
      tree.rename(std::string(known->name), edit.name);
      if (edit.note) tree.set_note(edit.name, *edit.note);
      return;
    }
    case CheckpointEdit::Action::restore:
      refuse_closed(tree.at(edit.name));
      return tree.restore(edit.name);
    case CheckpointEdit::Action::branch:
      refuse_closed(tree.at(edit.from));
      return tree.branch(edit.name, edit.from);
    case CheckpointEdit::Action::switch_to:
      return tree.switch_to(edit.name);
  }
}

std::string to_json(const CheckpointEdit& edit) {
  nlohmann::ordered_json out{{"action", edit_names[static_cast<std::size_t>(edit.action)]},
                             {"name", edit.name}};
  if (!edit.from.empty()) out["from"] = edit.from;
  if (edit.trial) out["trial"] = number(*edit.trial);
  if (edit.note) out["note"] = *edit.note;
  return out.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

CheckpointEdit checkpoint_edit_from(std::string_view json) {
  const std::string source = "an edit of checkpoints";
  const detail::JsonNode root = detail::parse_json(json, source);
  const detail::JsonCursor document(root, source);
  document.only({"action", "name", "from", "trial", "note"});
  CheckpointEdit edit;
  edit.action = static_cast<CheckpointEdit::Action>(
      document.at("action", "say what was done").choice("action", edit_names));
  edit.name = document.at("name", "name it").string("write a string");
  if (const auto from = document.find("from")) edit.from = from->string("write a string");
  if (const auto trial = document.find("trial")) {
    const std::int64_t id = trial->integer("give the number of a trial");
    if (id < 0) trial->refuse("is negative", "trials are counted from 0");
    edit.trial = TrialId{static_cast<std::uint64_t>(id)};
  }
  if (const auto note = document.find("note")) edit.note = note->string("write a string");
  return edit;
}

}  // namespace kernelsearch
