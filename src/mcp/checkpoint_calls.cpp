// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <mutex>
#include <nlohmann/json.hpp>
#include <utility>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/run/run_checkpoints.hpp"
#include "run_json.hpp"
#include "tool_kit.hpp"

/// Checkpoints of runs: what `RunCheckpoints` does, as a tool.
namespace kernelsearch::detail {
namespace {

using nlohmann::json;

json tree_json(const RunManager& manager, RunId run, const CheckpointTree& tree) {
  const Objectives objectives = run_objectives(manager, run);
  json out{{"run", number(run)},
           {"checkpoints", json::array()},
           {"branches", json::array()},
           {"active", tree.active_branch()},
           {"current", nullptr}};
  if (const Checkpoint* current = tree.current()) out["current"] = current->name;
  for (const Checkpoint& one : tree.list()) {
    json entry{{"name", one.name},         {"trial", number(one.trial)}, {"parent", one.parent},
               {"by", one.transformation}, {"note", one.note},           {"closed", one.closed}};
    if (const auto trial = manager.store().trial(run, one.trial); trial && trial->outcome.ok()) {
      const Evaluation& evaluation = trial->outcome.evaluation;
      entry["seconds"] = evaluation.measurement.seconds;
      json values = objectives_json(objectives, evaluation);
      if (!values.empty()) entry["objectives"] = std::move(values);
    }
    out["checkpoints"].push_back(std::move(entry));
  }
  for (const CheckpointTree::Branch& branch : tree.branches())
    out["branches"].push_back({{"name", branch.name}, {"tip", branch.tip}});
  return out;
}

std::string needed(const json& arguments, const char* name, const char* what) {
  const auto found = arguments.find(name);
  if (found == arguments.end())
    raise<ConfigError>("the action needs another argument", name, std::string("give ") + what);
  return found->get<std::string>();
}

}  // namespace

std::optional<TrialId> RunTools::current_checkpoint(RunId run) const {
  if (manager.store().run(run).info.policy != "submit") return std::nullopt;
  const std::lock_guard lock(*checkpoint_lock);
  const RunCheckpoints checkpoints(manager.store(), run);
  const Checkpoint* current = checkpoints.tree().current();
  return current == nullptr || current->closed ? std::nullopt : std::optional(current->trial);
}

ToolReply RunTools::checkpoints(const json& arguments, const ToolCall&) const {
  using Action = CheckpointEdit::Action;
  const RunId run = run_of(manager, arguments);
  const std::string action = arguments.value("action", "list");
  const std::lock_guard lock(*checkpoint_lock);
  RunCheckpoints checkpoints(manager.store(), run);
  constexpr const char* a_name = "name: a checkpoint, as action list shows them";
  if (action == "compare") {
    const std::string first = needed(arguments, "from", "from: the checkpoint to compare with");
    const std::string second = needed(arguments, "name", a_name);
    const CheckpointComparison found = checkpoints.tree().compare(first, second);
    json comparison{{"first", first},
                    {"second", second},
                    {"common", found.common},
                    {"only_first", found.only_first},
                    {"only_second", found.only_second},
                    {"diff", found.diff}};
    if (found.speedup > 0)
      comparison[run_objectives(manager, run).only_time() ? "speedup" : "times_as_good"] = found.speedup;
    json out = tree_json(manager, run, checkpoints.tree());
    out["comparison"] = std::move(comparison);
    return replied(checkpoints.compared(first, second), out);
  }
  CheckpointEdit edit;
  if (action == "name") {
    edit = {Action::name, needed(arguments, "name", "name: what the trial is to be called"), "",
            trial_or_best(manager, run, arguments).outcome.id};
    if (const auto note = arguments.find("note"); note != arguments.end())
      edit.note = note->get<std::string>();
  } else if (action == "restore") {
    edit = {Action::restore, needed(arguments, "name", a_name)};
  } else if (action == "branch") {
    edit = {Action::branch, needed(arguments, "name", "name: of the new branch"),
            needed(arguments, "from", "from: the checkpoint that it begins with")};
  } else if (action == "switch") {
    edit = {Action::switch_to, needed(arguments, "name", "name: a branch, as action list shows them")};
  }
  std::string text;
  if (action != "list") text = checkpoints.change(edit, !manager.doing(run).empty()) + '\n';
  if (checkpoints.tree().list().empty())
    text += "no checkpoints yet; action name gives the best trial, or the one that trial says, a name";
  return replied(text + checkpoints.describe(), tree_json(manager, run, checkpoints.tree()));
}

}  // namespace kernelsearch::detail
