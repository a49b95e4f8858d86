// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kernelsearch/core/rng.hpp"
#include "kernelsearch/policy/move_ledger.hpp"
#include "kernelsearch/policy/search_policy.hpp"

namespace kernelsearch {

struct EpsilonGreedyTreeOptions {
  std::vector<std::string> strategies = {};  ///< none: the generator chooses, as STARK's planner does
  std::uint64_t seed = 0;
  std::size_t root_children = 5;  ///< of the root, after which it cannot be selected
  std::size_t dead_children = 3;  ///< a node with more children than these, all failed, cannot be selected
  double epsilon = 0.35;          ///< STARK: 0.3 to 0.4
  double epsilon_decay = 1.0;     ///< factor of epsilon for each trial told; 1: none, as published
  double least_epsilon = 0.05;    ///< where decay stops
  bool graded = false;  ///< a failed node counts as its parent, slowed by what it lacks, instead of infinity
  MoveLimits limits = {};
};

/// The tree search of STARK (adaptive epsilon-greedy): with probability epsilon a leaf drawn from all that
/// can be selected, else the best node; a node that failed is debugged, a right one rewritten. Root
/// throttling and dead branches as published; the numbers that the paper does not give are ours.
///
/// Departures: children that are outstanding count for throttling and make a node no leaf; the strategy,
/// where there are names, is drawn from those tried least on the node; when the rules leave nothing to select
/// while strategies are open, they are lifted and the best node is taken; failed nodes that were debugged
/// often enough are selected last.
class EpsilonGreedyTree {
 public:
  using Proposal = Move;

  explicit EpsilonGreedyTree(EpsilonGreedyTreeOptions options = {});

  std::vector<Move> ask(std::size_t n);
  void tell(std::span<const Observation<Move>> batch);

  [[nodiscard]] const SearchTree& tree() const noexcept { return ledger_.tree(); }
  /// The probability of exploring now.
  [[nodiscard]] double epsilon() const noexcept;

 private:
  [[nodiscard]] std::optional<Move> choose();
  [[nodiscard]] bool selectable(std::size_t node) const;
  [[nodiscard]] double score(std::size_t node) const;
  [[nodiscard]] Move move_on(std::size_t node);

  EpsilonGreedyTreeOptions options_;
  Rng rng_;
  MoveLedger ledger_;
};

}  // namespace kernelsearch

#if KERNELSEARCH_HEADER_ONLY
#  include "kernelsearch/policy/impl/epsilon_greedy_tree_impl.hpp"
#endif
