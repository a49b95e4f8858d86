// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/policy/move_ledger.hpp"

namespace kernelsearch {

KERNELSEARCH_INLINE MoveLedger::MoveLedger(std::vector<std::string> strategies, MoveLimits limits)
    : names_(std::move(strategies)), named_(!names_.empty()), limits_(limits) {
  for (std::size_t i = 0; i < names_.size(); ++i)
    if (std::find(names_.begin() + static_cast<std::ptrdiff_t>(i) + 1, names_.end(), names_[i]) !=
        names_.end())
      detail::raise<ConfigError>("a strategy is named twice", names_[i], "name each strategy once");
  if (limits_.variants == 0 || limits_.max_failures == 0)
    detail::raise<ConfigError>("MoveLimits has a count of 0", "variants or max_failures",
                               "give at least 1 of each");
  if (!named_) names_.emplace_back();
  pending_.resize(names_.size());
}

KERNELSEARCH_INLINE std::optional<std::size_t> MoveLedger::strategy_of(std::string_view name) const {
  const auto found = std::find(names_.begin(), names_.end(), name);
  if (found == names_.end()) return std::nullopt;
  return static_cast<std::size_t>(found - names_.begin());
}

KERNELSEARCH_INLINE MoveLedger::Ranking::value_type MoveLedger::rank_of(std::size_t index) const {
  const TreeNode& node = tree_.node(index);
  return {node.objective, -node.progress, index};
}

KERNELSEARCH_INLINE void MoveLedger::add_node(std::size_t index) {
  const bool code = tree_.node(index).generated();
  arms_.resize(arms_.size() + width());
  open_arms_.push_back(code ? names_.size() : 0);
  arms_pending_.push_back(0);
  children_.push_back(0);
  right_children_.push_back(0);
  chain_debugs_.push_back(0);
  if (code)
    expandable_.insert(rank_of(index));
  else
    for (std::size_t s = 0; s < width(); ++s) arm(index, s).closed = true;
}

KERNELSEARCH_INLINE void MoveLedger::close(std::size_t index, std::size_t strategy) {
  Arm& closing = arm(index, strategy);
  if (closing.closed) return;
  closing.closed = true;
  if (strategy < names_.size() && --open_arms_[index] == 0) expandable_.erase(rank_of(index));
}

/// A try that nobody answered: what was closed for the number of tries alone is open again.
KERNELSEARCH_INLINE void MoveLedger::take_back(std::size_t index, std::size_t strategy) {
  Arm& tried = arm(index, strategy);
  ++tried.lost;
  if (strategy == names_.size()) --chain_debugs_[chain_of(index)];
  if (!tried.closed || !tried.spent) return;
  tried.closed = tried.spent = false;
  if (strategy < names_.size() && open_arms_[index]++ == 0) expandable_.insert(rank_of(index));
}

KERNELSEARCH_INLINE void MoveLedger::proposed(std::size_t index, std::size_t strategy) {
  ++outstanding_;
  proposals_.push_back({index, strategy});
  if (index == none) return;
  ++arms_pending_[index];
  if (strategy == none) return;
  Arm& tried = arm(index, strategy);
  ++tried.tries;
  ++tried.pending;
  if (strategy < names_.size()) ++pending_[strategy];
  if (tried.tries - tried.lost >= (strategy < names_.size() ? limits_.variants : limits_.debugs)) {
    tried.spent = !tried.closed;
    close(index, strategy);
  }
}

KERNELSEARCH_INLINE std::optional<Move> MoveLedger::propose_root() {
  if (root_known_) return std::nullopt;
  root_known_ = true;
  proposed(none, none);
  return Move{};
}

KERNELSEARCH_INLINE Move MoveLedger::propose(std::size_t index, std::size_t strategy, MoveKind kind) {
  Move move{kind, {tree_.node(index).id}, {}, arm(index, strategy).tries};
  if (named_) move.strategies.push_back(names_[strategy]);
  proposed(index, strategy);
  return move;
}

KERNELSEARCH_INLINE Move MoveLedger::propose_debug(std::size_t index) {
  Move move{MoveKind::debug, {tree_.node(index).id}, {}, arm(index, names_.size()).tries};
  proposed(index, names_.size());
  ++chain_debugs_[chain_of(index)];
  return move;
}

KERNELSEARCH_INLINE std::optional<Move> MoveLedger::propose_recombination(std::size_t a, std::size_t b) {
  if (a == b || !joined_.insert(std::minmax(a, b)).second) return std::nullopt;
  proposed(a, none);
  return Move{MoveKind::recombine, {tree_.node(a).id, tree_.node(b).id}, {}, 0};
}

KERNELSEARCH_INLINE bool MoveLedger::open(std::size_t index, std::size_t strategy) const {
  return !arm(index, strategy).closed;
}

KERNELSEARCH_INLINE std::vector<std::size_t> MoveLedger::open_strategies(std::size_t index) const {
  std::vector<std::size_t> result;
  for (std::size_t s = 0; s < names_.size(); ++s)
    if (open(index, s)) result.push_back(s);
  return result;
}

KERNELSEARCH_INLINE std::size_t MoveLedger::least_tried(std::size_t index, Rng& rng) const {
  std::vector<std::size_t> least;
  for (std::size_t s = 0; s < names_.size(); ++s) {
    if (!open(index, s)) continue;
    if (!least.empty() && tries(index, s) < tries(index, least.front())) least.clear();
    if (least.empty() || tries(index, s) == tries(index, least.front())) least.push_back(s);
  }
  return least[rng.below(least.size())];
}

KERNELSEARCH_INLINE std::optional<std::size_t> MoveLedger::mended_by(std::size_t index) const {
  if (tree_.node(index).move.kind != MoveKind::debug) return std::nullopt;
  const std::optional<std::size_t> parent = tree_.first_parent(index);
  return parent && !tree_.node(*parent).ok() ? parent : std::nullopt;
}

KERNELSEARCH_INLINE std::size_t MoveLedger::chain_of(std::size_t index) const {
  // A parent may have been told late, but no tree has more nodes on a path than there are.
  for (std::size_t step = 0; step < tree_.size(); ++step) {
    const std::optional<std::size_t> before = mended_by(index);
    if (!before) break;
    index = *before;
  }
  return index;
}

KERNELSEARCH_INLINE bool MoveLedger::can_debug(std::size_t index) const {
  const TreeNode& node = tree_.node(index);
  if (limits_.debugs == 0 || !node.generated() || node.ok() || arm(index, names_.size()).closed) return false;
  std::size_t first = index;  // of the chain, as chain_of
  std::optional<std::size_t> at = index;
  for (std::size_t step = 0; at && step < tree_.size(); ++step, at = mended_by(*at)) {
    if (right_children_[*at] > 0 && !limits_.repaired_again) return false;
    first = *at;
  }
  return chain_debugs_[first] < limits_.chain_debugs;
}

KERNELSEARCH_INLINE std::size_t MoveLedger::tries(std::size_t index, std::size_t strategy) const {
  return arm(index, strategy).tries;
}

KERNELSEARCH_INLINE std::size_t MoveLedger::pending(std::size_t index, std::size_t strategy) const {
  return arm(index, strategy).pending;
}

KERNELSEARCH_INLINE std::optional<std::size_t> MoveLedger::best_expandable() const {
  if (expandable_.empty()) return std::nullopt;
  return std::get<2>(*expandable_.begin());
}

KERNELSEARCH_INLINE void MoveLedger::settle(Proposed& proposal, const Outcome& outcome) {
  if (!proposal.begun) proposal.left = std::max<std::uint32_t>(outcome.origin->count, 1);
  proposal.begun = true;
  if (proposal.node != none && proposal.arm != none) {
    Arm& tried = arm(proposal.node, proposal.arm);
    const Verdict verdict = outcome.evaluation.verdict;
    if (outcome.evaluation.is_unanswered()) {
      take_back(proposal.node, proposal.arm);
    } else {
      tried.failures = has_candidate(verdict) ? 0 : tried.failures + 1;
      // Where the generator chooses the strategy there is none that could be ruled out.
      const bool ruled_out = verdict == Verdict::not_applicable && named_ && proposal.arm < names_.size();
      if (ruled_out || tried.failures >= limits_.max_failures) {
        tried.spent = false;
        close(proposal.node, proposal.arm);
      }
    }
  }
  if (proposal.left == 0 || --proposal.left > 0) return;
  --outstanding_;
  if (proposal.node == none) return;
  --arms_pending_[proposal.node];
  if (proposal.arm == none) return;
  --arm(proposal.node, proposal.arm).pending;
  if (proposal.arm < names_.size()) --pending_[proposal.arm];
}

KERNELSEARCH_INLINE void MoveLedger::log_pull(std::size_t child, const Move& move) {
  if (!tree_.node(child).generated()) return;
  if (move.kind != MoveKind::rewrite && move.kind != MoveKind::branch) return;
  const std::optional<std::size_t> parent = tree_.first_parent(child);
  const std::optional<std::size_t> strategy = strategy_of(move.strategy());
  if (parent && strategy) pulls_.push_back({*parent, *strategy, child});
}

KERNELSEARCH_INLINE void MoveLedger::count_child(std::size_t child, std::ptrdiff_t told,
                                                 std::ptrdiff_t right) {
  for (const std::size_t parent : tree_.parents(child)) {
    children_[parent] += static_cast<std::size_t>(told);
    right_children_[parent] += static_cast<std::size_t>(right);
  }
}

KERNELSEARCH_INLINE void MoveLedger::tell(const Observation<Move>& observation) {
  const Outcome& outcome = observation.outcome;
  if (observation.proposal.kind == MoveKind::root) root_known_ = true;
  if (const auto known = tree_.find(outcome.id)) {
    const bool ranked = expandable_.erase(rank_of(*known)) > 0;
    const bool was_right = node(*known).ok();
    tree_.record(observation);
    count_child(*known, 0, (node(*known).ok() ? 1 : 0) - (was_right ? 1 : 0));
    if (ranked) expandable_.insert(rank_of(*known));
    ++revisions_;
    return;
  }
  const std::size_t index = tree_.record(observation).node;
  add_node(index);
  count_child(index, node(index).is_no_try() ? 0 : 1, node(index).ok() ? 1 : 0);
  for (const std::size_t early : tree_.children(index)) {  // told before their parent
    children_[index] += node(early).is_no_try() ? 0 : 1;
    right_children_[index] += node(early).ok() ? 1 : 0;
  }
  if (outcome.origin && number(outcome.origin->proposal) < proposals_.size())
    settle(proposals_[number(outcome.origin->proposal)], outcome);
  log_pull(index, observation.proposal);
}

}  // namespace kernelsearch
