// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernelsearch/agents/checkpoint_edit.hpp"
#include "kernelsearch/agents/checkpoint_tree.hpp"
#include "kernelsearch/model/roofline.hpp"
#include "kernelsearch/policy/move_ledger.hpp"
#include "kernelsearch/policy/search_policy.hpp"

namespace kernelsearch {

/// Which transformation is next.
enum class WorkflowOrder : std::uint8_t {
  listed,  ///< each once, in the order of the list; the search ends with the list
  /// Any that is not on the path yet, the least tried first, of equals by `WorkflowOptions::orders`; the
  /// search ends when all are tried.
  open,
};

/// The word of workflow files.
[[nodiscard]] constexpr std::string_view to_string(WorkflowOrder order) noexcept {
  return order == WorkflowOrder::listed ? "listed" : "open";
}

struct WorkflowOptions {
  std::vector<std::string> transformations = {};  ///< none: the generator chooses
  WorkflowOrder order = WorkflowOrder::listed;
  /// For a transformation those that it builds on: it is applied where all of them are on the path from the
  /// first checkpoint. `planned_workflow` fills this and the next two in.
  std::map<std::string, std::vector<std::string>> after = {};
  std::vector<std::string> present = {};  ///< transformations that the first kernel has already
  /// For an open list, for each axis the order of kernels that are short of it; empty: as they are listed.
  std::array<std::vector<std::string>, 3> orders = {};
  /// What a right kernel is short of; nothing, or no such function: memory is taken to be it.
  std::function<std::optional<Axis>(const Outcome&)> short_of = nullptr;
  /// For an open list: how much a right kernel speaks for a transformation, in [-1, 1]. Among the least tried
  /// those that more speaks for are next, of equals by `orders`; no such function: by `orders` alone.
  std::function<double(const std::string& transformation, const Outcome&)> evidence = nullptr;
  /// Steps without a gain before work continues from the best checkpoint. PEAK, section 5.1: gains are not
  /// monotone, and the first three steps (0 to 2) of its sequences brought hardly any.
  std::size_t patience = 3;
  double min_gain = 0.005;  ///< a step that gains less is without a gain; ours
  /// Further tries of a transformation that failed. Models succeed in 83 to 93 % of tries (section 5.2):
  /// three tries leave less than 1 %.
  std::size_t retries = 2;
  /// The same again for the middle third of the list, where models fail more often (section 5.2); ours.
  std::size_t middle_retries = 1;
  /// What was done to the checkpoints while the run stood still: they are repeated where they were done when
  /// the run is resumed.
  std::vector<PlacedCheckpointEdit> edits = {};
};

/// PEAK's performance workflow: transformations applied one after the other, each validated step a
/// checkpoint. A step that fails leaves the kernel as it was (the previous checkpoint) and is tried again;
/// after its last try it is skipped, which the checkpoint's note says; so is, at no cost, one that does not
/// apply to the kernel, for good. Several steps without a gain are allowed before work goes back to the best
/// checkpoint; not while a later step of a list builds on one that this would lose. One proposal at a time,
/// since each is made on the last.
///
/// A transformation that builds on others (`WorkflowOptions::after`) is never applied to a kernel that lacks
/// one of them; a list passes over it, which the checkpoint's note says.
///
/// The tree may be changed between calls: work continues at its `current()`. A restored checkpoint,
/// or a new branch, takes up the list after the last transformation on its path, and its tries begin anew.
/// Such changes are not in a run's record: give them as `WorkflowOptions::edits` when a run is resumed.
class Workflow {
 public:
  using Proposal = Move;

  explicit Workflow(WorkflowOptions options = {});

  std::vector<Move> ask(std::size_t n);
  void tell(std::span<const Observation<Move>> batch);

  /// Stands for an `ask` of an earlier process that gave these moves, whatever this one would choose: for
  /// looking at a run's checkpoints without its problem.
  void asked_before(std::span<const Move> moves);

  [[nodiscard]] CheckpointTree& checkpoints() noexcept { return checkpoints_; }
  [[nodiscard]] const CheckpointTree& checkpoints() const noexcept { return checkpoints_; }
  [[nodiscard]] const SearchTree& tree() const noexcept { return ledger_.tree(); }

 private:
  /// The result of one transformation on one checkpoint.
  struct Attempts {
    std::size_t failed = 0;
    bool over = false;  ///< it succeeded, or was given up
  };
  /// The proposal that is out.
  struct Step {
    std::size_t node = 0, strategy = 0;
    double best_before = 0.0;
    std::vector<std::size_t> children;
    std::string_view verdict = {};     ///< of the last of them, as it is shown
    std::string ruled_out = {};        ///< why it does not apply to the kernel, where that was said
    bool unanswered = false;           ///< the model could not be reached
    std::optional<TrialId> twin = {};  ///< the right kernel that it led to again
  };

  void apply_edits();
  void record(const Observation<Move>& observation);
  void settle();
  void note(std::size_t node, const std::string& text);
  void notice_changes();
  void go_to(const Checkpoint& checkpoint);
  [[nodiscard]] std::optional<std::size_t> current_node();
  [[nodiscard]] std::optional<Move> choose();
  [[nodiscard]] std::optional<std::size_t> next_strategy(std::size_t node);
  [[nodiscard]] std::optional<std::size_t> open_strategy(std::size_t node) const;
  [[nodiscard]] std::vector<std::string> had_by(const Checkpoint& checkpoint) const;
  [[nodiscard]] std::string missing_for(std::size_t strategy, const std::vector<std::string>& had) const;
  [[nodiscard]] bool list_needs_path() const;
  [[nodiscard]] double seen_of(std::size_t strategy, std::size_t node) const;
  [[nodiscard]] std::size_t rank_of(std::size_t strategy, std::size_t node) const;
  [[nodiscard]] std::size_t retries_of(std::size_t strategy) const noexcept;
  [[nodiscard]] bool listed() const noexcept;

  WorkflowOptions options_;
  MoveLedger ledger_;
  CheckpointTree checkpoints_;
  std::optional<Step> step_;
  std::optional<std::size_t> again_;  ///< the strategy to try again on the current node
  std::map<std::pair<std::size_t, std::size_t>, Attempts> attempts_;  ///< by node and strategy
  std::optional<TrialId> went_to_;                                    ///< where the workflow itself left off
  std::map<std::size_t, std::vector<double>> seen_;  ///< by node and strategy: `WorkflowOptions::evidence`
  std::map<std::size_t, Axis> short_;                ///< by node, where it is known
  std::array<std::vector<std::size_t>, 3> ranks_;    ///< by axis and strategy
  std::size_t events_ = 0, next_edit_ = 0;           ///< asks and outcomes so far; of the options' edits
  std::size_t next_ = 0;                             ///< of the list
  std::size_t fruitless_ = 0;
};

static_assert(SearchPolicy<Workflow>);

}  // namespace kernelsearch
