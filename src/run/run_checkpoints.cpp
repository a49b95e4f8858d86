// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/run/run_checkpoints.hpp"

#include <fmt/format.h>

#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "kernelsearch/agents/workflow.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/report/front.hpp"
#include "kernelsearch/store/codec.hpp"
#include "kernelsearch/systems/system_registry.hpp"
#include "stored_options.hpp"

namespace kernelsearch {
namespace {

using Action = CheckpointEdit::Action;

/// The system of the run, where it has a workflow; null elsewhere.
const SystemEntry* workflow_system(const detail::StoredOptions& stored) {
  if (stored.options.system.empty()) return nullptr;
  const SystemEntry& system = find_system(stored.options.system);
  return system.workflow != nullptr ? &system : nullptr;
}

/// What a trial's move is called in one word or a few.
std::string strategies_of(const StoredTrial& trial) {
  const auto point = nlohmann::json::parse(trial.point, nullptr, false);
  std::string text;
  if (point.is_object())
    for (const auto& one : point.value("strategies", nlohmann::json::array()))
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

Checkpoint checkpoint_of(const StoredTrial& trial, std::string name, std::string parent) {
  Checkpoint checkpoint;
  checkpoint.name = std::move(name);
  checkpoint.transformation = parent.empty() ? "" : strategies_of(trial);
  checkpoint.parent = std::move(parent);
  checkpoint.trial = trial.outcome.id;
  return checkpoint;
}

std::string step_names(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text.empty() ? "nothing" : text;
}

}  // namespace

RunCheckpoints::RunCheckpoints(RunStore& store, RunId run) : store_(&store), changed_(&store), run_(run) {
  read();
}
RunCheckpoints::RunCheckpoints(const RunStore& store, RunId run) : store_(&store), run_(run) {
  read();
}

void RunCheckpoints::read() {
  tree_ = {};
  const RunRow row = store_->run(run_);
  const detail::StoredOptions stored = detail::decode_options(row);
  if (workflow_system(stored) != nullptr) {
    use_ = CheckpointUse::workflow;
    read_workflow();
  } else {
    use_ = row.info.policy == "submit" ? CheckpointUse::submitted : CheckpointUse::named;
    read_named();
  }
  for (const Checkpoint& one : std::vector<Checkpoint>(tree_.list().begin(), tree_.list().end())) {
    const auto trial = store_->trial(run_, one.trial);
    const bool ok = trial && trial->outcome.ok();
    tree_.set_objective(one.name, ok ? trial->outcome.objective : std::numeric_limits<double>::infinity());
    // A validator may have found something since.
    if (!ok) tree_.set_closed(one.name, true);
    if (!trial || !trial->candidate) continue;
    if (const auto kernel = store_->kernel(trial->candidate->kernel))
      tree_.set_code(one.name, {kernel->device, kernel->host, kernel->macros}, trial->candidate->key);
  }
}

/// The policy goes through the record once more, without being asked what it would choose.
void RunCheckpoints::read_workflow() {
  const detail::StoredOptions stored = detail::decode_options(store_->run(run_));
  const SystemEntry& system = *workflow_system(stored);
  if (stored.system_settings.empty())
    detail::raise<ConfigError>("an earlier version began this run and kept no workflow with it",
                               std::to_string(number(run_)),
                               "start a new run; what was measured is used again");
  const SystemOptions options(system.name, system.options, stored.options.system_options);
  Workflow workflow(system.workflow(options, stored.system_settings));
  std::map<std::uint64_t, StoredTrial> trials;
  std::map<std::uint64_t, Move> proposed;
  store_->each_trial(run_, [&](const StoredTrial& trial) {
    trials.emplace(number(trial.outcome.id), trial);
    if (trial.outcome.origin)
      proposed.emplace(number(trial.outcome.origin->proposal), PointCodec<Move>::decode(trial.point));
  });
  const auto tell = [&](TrialId id, std::optional<Outcome> outcome) {
    const auto found = trials.find(number(id));
    if (found == trials.end()) return;
    const Observation<Move> told{PointCodec<Move>::decode(found->second.point),
                                 outcome ? *std::move(outcome) : found->second.outcome};
    workflow.tell(std::span<const Observation<Move>>(&told, 1));
  };
  std::uint64_t next = 0;
  for (const StoredEvent& event : store_->events(run_)) {
    if (const auto* ask = std::get_if<AskEvent>(&event)) {
      std::vector<Move> moves;
      for (std::size_t i = 0; i < ask->returned; ++i)
        if (const auto move = proposed.find(next + i); move != proposed.end()) moves.push_back(move->second);
      next += ask->returned;
      // What was asked for last may never have been told of.
      if (moves.size() == ask->returned) workflow.asked_before(moves);
    } else if (const auto* told = std::get_if<StoredTold>(&event)) {
      tell(told->trial, told->first);
    } else if (const auto* revision = std::get_if<StoredRevision>(&event)) {
      tell(revision->trial, revision->outcome);
    } else {
      apply(checkpoint_edit_from(std::get<StoredCheckpointEdit>(event).edit), workflow.checkpoints());
    }
  }
  tree_ = workflow.checkpoints();
}

void RunCheckpoints::read_named() {
  for (const StoredEvent& event : store_->events(run_))
    if (const auto* stored = std::get_if<StoredCheckpointEdit>(&event)) {
      const CheckpointEdit edit = checkpoint_edit_from(stored->edit);
      if (edit.action == Action::name)
        name_trial(edit);
      else
        apply(edit, tree_);
    }
}

/// Gives a trial a name, or its checkpoint another one; the active branch goes on from it.
void RunCheckpoints::name_trial(const CheckpointEdit& edit) {
  const auto trial = edit.trial ? store_->trial(run_, *edit.trial) : std::nullopt;
  if (trial && tree_.find(*edit.trial) == nullptr) {
    if (tree_.find(edit.name) != nullptr)
      detail::raise<ConfigError>("a checkpoint has this name already", edit.name, "choose another name");
    // What everything began with, so that there is something to compare with and to go back to.
    if (tree_.list().empty())
      if (const auto first = store_->trial(run_, TrialId{0});
          first && first->candidate && first->outcome.id != trial->outcome.id)
        tree_.add(checkpoint_of(*first, edit.name == "start" ? "first" : "start", ""));
    const Checkpoint* above = checkpoint_above(*store_, run_, tree_, *trial);
    tree_.add(checkpoint_of(*trial, edit.name, above != nullptr ? above->name : ""));
  }
  apply(edit, tree_);
  tree_.restore(edit.name);
}

void RunCheckpoints::check(const CheckpointEdit& edit) const {
  if (edit.action == Action::name) {
    const auto trial = edit.trial ? store_->trial(run_, *edit.trial) : std::nullopt;
    if (!trial)
      detail::raise<ConfigError>("no such trial in this run",
                                 edit.trial ? std::to_string(number(*edit.trial)) : "none",
                                 "name one by its number, counted from 0");
    if (!trial->outcome.ok() || !trial->candidate)
      detail::raise<ConfigError>("only a right kernel can be a checkpoint",
                                 fmt::format("trial {}: {}", number(trial->outcome.id),
                                             to_string(trial->outcome.evaluation.verdict)),
                                 "name another trial");
  } else if (use_ == CheckpointUse::named) {
    detail::raise<ConfigError>(fmt::format("run {} does not go on from checkpoints", number(run_)),
                               store_->run(run_).info.policy,
                               "name its trials and compare them; runs of peak and runs with the policy "
                               "submit go on from checkpoints");
  }
}

std::string RunCheckpoints::change(const CheckpointEdit& edit, bool working_here) {
  if (changed_ == nullptr)
    detail::raise<ConfigError>("this store was opened to be read", store_->file().string(),
                               "open it to be written, too");
  if (!store_->run(run_).finished && !(working_here && use_ != CheckpointUse::workflow))
    detail::raise<ConfigError>(
        fmt::format("run {} is at work, or was killed", number(run_)),
        "its checkpoints would change under it",
        fmt::format(
            "stop it first (Ctrl-C); one that was killed goes on with `kernelsearch tune --resume {}`",
            number(run_)));
  check(edit);
  const CheckpointTree before = tree_;
  try {
    if (edit.action == Action::name && use_ != CheckpointUse::workflow)
      name_trial(edit);
    else
      apply(edit, tree_);
  } catch (const ConfigError&) {
    tree_ = before;
    throw;
  }
  changed_->add_checkpoint_edit(run_, to_json(edit));
  read();
  const Checkpoint* current = tree_.current();
  const std::string at =
      current == nullptr ? "nothing" : fmt::format("{}, trial {}", current->name, number(current->trial));
  const std::string on =
      use_ == CheckpointUse::workflow
          ? fmt::format("`kernelsearch tune --resume {}` goes on from {}", number(run_), at)
          : "kernels without a parent now go on from " + at;
  switch (edit.action) {
    case Action::name:
      return fmt::format(
          "trial {} is {}{}", number(*edit.trial), edit.name,
          use_ == CheckpointUse::submitted ? "; kernels without a parent now go on from it" : "");
    case Action::restore:
      return on;
    case Action::branch:
      return fmt::format("branch {} begins with {}; {}", edit.name, edit.from, on);
    case Action::switch_to:
      break;
  }
  return fmt::format("branch {}; {}", edit.name, on);
}

std::string RunCheckpoints::describe() const {
  const RunInfo info = store_->run(run_).info;
  const Objectives objectives = objectives_of(info);
  const std::string tree = tree_.describe([&info](double objective) { return format_best(info, objective); });
  return tree.empty() || objectives.only_time() ? tree : "by " + objectives.text() + '\n' + tree;
}

std::string RunCheckpoints::compared(const std::string& first, const std::string& second) const {
  const CheckpointComparison comparison = tree_.compare(first, second);
  const Objectives objectives = objectives_of(store_->run(run_).info);
  std::string text = !(comparison.speedup > 0) ? "one of them has no time"
                     : objectives.only_time() ? fmt::format("{} is {:.3f} times as fast as {} by their times",
                                                            second, comparison.speedup, first)
                                              : fmt::format("{} is {:.3f} times as good as {} by {}", second,
                                                            comparison.speedup, first, objectives.text());
  text +=
      comparison.common.empty() ? "; they have nothing in common" : "; both come from " + comparison.common;
  return fmt::format("{}\nsince then {}: {}; {}: {}", text, first, step_names(comparison.only_first), second,
                     step_names(comparison.only_second));
}

std::vector<PlacedCheckpointEdit> placed_checkpoint_edits(const RunStore& store, RunId run) {
  std::vector<PlacedCheckpointEdit> edits;
  std::size_t seen = 0;
  for (const StoredEvent& event : store.events(run)) {
    if (const auto* edit = std::get_if<StoredCheckpointEdit>(&event))
      edits.push_back({seen, checkpoint_edit_from(edit->edit)});
    else
      ++seen;
  }
  return edits;
}

}  // namespace kernelsearch
