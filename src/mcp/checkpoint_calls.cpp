// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <fmt/format.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "kernelsearch/core/error.hpp"
#include "run_json.hpp"
#include "tool_kit.hpp"

/// Right trials under names, and lines of work that go on from them.
namespace kernelsearch::detail {
namespace {

using nlohmann::json;

/// What a trial's move is called in one word or a few.
std::string change_of(const StoredTrial& trial) {
  const json point = json::parse(trial.point, nullptr, false);
  std::string text;
  if (point.is_object())
    for (const json& one : point.value("strategies", json::array()))
      if (one.is_string()) text += (text.empty() ? "" : "+") + one.get<std::string>();
  return text;
}

/// The nearest ancestor of the trial that is a checkpoint; nothing where none is.
const Checkpoint* checkpoint_above(const RunStore& store, RunId run, const CheckpointTree& tree,
                                   StoredTrial trial) {
  std::set<TrialId> seen;
  while (!trial.outcome.parents.empty() && seen.insert(trial.outcome.id).second) {
    const TrialId parent = trial.outcome.parents.front();
    if (const Checkpoint* found = tree.find(parent)) return found;
    std::optional<StoredTrial> next = store.trial(run, parent);
    if (!next) break;
    trial = *std::move(next);
  }
  return nullptr;
}

Checkpoint made(const RunStore& store, const StoredTrial& trial, std::string name, std::string parent) {
  Checkpoint checkpoint;
  checkpoint.name = std::move(name);
  checkpoint.transformation = parent.empty() ? "" : change_of(trial);
  checkpoint.parent = std::move(parent);
  checkpoint.trial = trial.outcome.id;
  checkpoint.objective = trial.outcome.objective;
  if (!trial.candidate) return checkpoint;
  checkpoint.tuned_key = trial.candidate->key;
  if (const auto kernel = store.kernel(trial.candidate->kernel))
    checkpoint.regions = {kernel->device, kernel->host, kernel->macros};
  return checkpoint;
}

/// Gives a trial a name, or its checkpoint another one; the active branch goes on from it.
void name_trial(const RunManager& manager, RunId run, CheckpointTree& tree, const StoredTrial& trial,
                const std::string& name) {
  if (!trial.outcome.ok() || !trial.candidate)
    raise<ConfigError>(
        "only a right kernel can be a checkpoint",
        fmt::format("{}: {}", trial_name(trial.outcome.id), to_string(trial.outcome.evaluation.verdict)),
        "name another trial");
  const RunStore& store = manager.store();
  if (const Checkpoint* known = tree.find(trial.outcome.id)) {
    tree.rename(std::string(known->name), name);
  } else {
    if (tree.find(name) != nullptr)
      raise<ConfigError>("a checkpoint has this name already", name, "choose another name");
    // What everything began with, so that there is something to compare with and to go back to.
    if (tree.list().empty())
      if (const auto first = store.trial(run, TrialId{0});
          first && first->outcome.ok() && first->candidate && first->outcome.id != trial.outcome.id)
        tree.add(made(store, *first, name == "start" ? "first" : "start", ""));
    const Checkpoint* above = checkpoint_above(store, run, tree, trial);
    tree.add(made(store, trial, name, above != nullptr ? above->name : ""));
  }
  tree.restore(name);
}

json tree_json(RunId run, const CheckpointTree& tree) {
  json out{{"run", number(run)},
           {"checkpoints", json::array()},
           {"branches", json::array()},
           {"active", tree.active_branch()},
           {"current", nullptr}};
  if (const Checkpoint* current = tree.current()) out["current"] = current->name;
  for (const Checkpoint& one : tree.list()) {
    json entry{{"name", one.name},         {"trial", number(one.trial)}, {"parent", one.parent},
               {"by", one.transformation}, {"note", one.note},           {"closed", one.closed}};
    if (one.objective < std::numeric_limits<double>::infinity()) entry["seconds"] = one.objective;
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

std::string comparison_text(const CheckpointComparison& comparison, const std::string& first,
                            const std::string& second) {
  const auto steps = [](const std::vector<std::string>& names) {
    std::string text;
    for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
    return text.empty() ? std::string("nothing") : text;
  };
  std::string text = comparison.speedup > 0 ? fmt::format("{} is {:.3f} times as fast as {} by their times",
                                                          second, comparison.speedup, first)
                                            : "one of them has no time";
  text +=
      comparison.common.empty() ? "; they have nothing in common" : "; both come from " + comparison.common;
  return fmt::format("{}\nsince then {}: {}; {}: {}", text, first, steps(comparison.only_first), second,
                     steps(comparison.only_second));
}

}  // namespace

std::filesystem::path CheckpointFiles::file(RunId run) const {
  return folder_ / fmt::format("run_{}.json", number(run));
}

CheckpointTree CheckpointFiles::load(const RunStore& store, RunId run) const {
  std::error_code error;
  if (folder_.empty() || !std::filesystem::is_regular_file(file(run), error)) return {};
  CheckpointTree tree = CheckpointTree::load(file(run));
  for (const Checkpoint& one : std::vector<Checkpoint>(tree.list().begin(), tree.list().end())) {
    const auto trial = store.trial(run, one.trial);
    const bool ok = trial && trial->outcome.ok();
    tree.set_objective(one.name, ok ? trial->outcome.objective : std::numeric_limits<double>::infinity());
    // A validator may have found something since.
    if (!ok) tree.set_closed(one.name, true);
  }
  return tree;
}

void CheckpointFiles::save(RunId run, const CheckpointTree& tree) const {
  if (folder_.empty())
    raise<ConfigError>("checkpoints cannot be kept", "no folder", "go by the numbers of trials");
  std::error_code error;
  std::filesystem::create_directories(folder_, error);
  tree.save(file(run));
}

std::optional<TrialId> RunTools::current_checkpoint(RunId run) const {
  if (manager.store().run(run).info.policy != "submit") return std::nullopt;
  const auto lock = checkpoint_files->lock();
  const CheckpointTree tree = checkpoint_files->load(manager.store(), run);
  const Checkpoint* current = tree.current();
  return current == nullptr || current->closed ? std::nullopt : std::optional(current->trial);
}

ToolReply RunTools::checkpoints(const json& arguments, const ToolCall&) const {
  const RunId run = run_of(manager, arguments);
  const std::string action = arguments.value("action", "list");
  const auto lock = checkpoint_files->lock();
  CheckpointTree tree = checkpoint_files->load(manager.store(), run);
  constexpr const char* a_name = "name: a checkpoint, as action list shows them";
  std::string text;
  json comparison;
  if (action == "name") {
    const StoredTrial trial = trial_or_best(manager, run, arguments);
    const std::string name = needed(arguments, "name", "name: what the trial is to be called");
    name_trial(manager, run, tree, trial, name);
    if (const auto note = arguments.find("note"); note != arguments.end())
      tree.set_note(name, note->get<std::string>());
    text = fmt::format("{} is {}; kernels without a parent now go on from it\n", trial_name(trial.outcome.id),
                       name);
  } else if (action == "restore") {
    const std::string name = needed(arguments, "name", a_name);
    if (tree.at(name).closed)
      raise<ConfigError>("this checkpoint is closed", name,
                         "its trial is not right any more: restore another");
    tree.restore(name);
    text = fmt::format("kernels without a parent now go on from {}, {}\n", name,
                       trial_name(tree.at(name).trial));
  } else if (action == "branch") {
    const std::string name = needed(arguments, "name", "name: of the new branch");
    const std::string from = needed(arguments, "from", "from: the checkpoint that it begins with");
    tree.branch(name, from);
    text = fmt::format("branch {} begins with {}, {}\n", name, from, trial_name(tree.at(from).trial));
  } else if (action == "switch") {
    tree.switch_to(needed(arguments, "name", "name: a branch, as action list shows them"));
    text = fmt::format("branch {}\n", tree.active_branch());
  } else if (action == "compare") {
    const std::string first = needed(arguments, "from", "from: the checkpoint to compare with");
    const std::string second = needed(arguments, "name", a_name);
    const CheckpointComparison found = tree.compare(first, second);
    comparison = {{"first", first},
                  {"second", second},
                  {"common", found.common},
                  {"only_first", found.only_first},
                  {"only_second", found.only_second},
                  {"diff", found.diff}};
    if (found.speedup > 0) comparison["speedup"] = found.speedup;
    json out = tree_json(run, tree);
    out["comparison"] = std::move(comparison);
    return replied(comparison_text(found, first, second), out);
  }
  if (action != "list") checkpoint_files->save(run, tree);
  if (tree.list().empty())
    text += "no checkpoints yet; action name gives the best trial, or the one that trial says, a name";
  return replied(text + tree.describe(), tree_json(run, tree));
}

}  // namespace kernelsearch::detail
