// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "kernelsearch/core/config_macros.hpp"
#include "kernelsearch/core/features.hpp"
#include "kernelsearch/core/move.hpp"
#include "kernelsearch/core/outcome.hpp"

namespace kernelsearch {

/// A trial as the tree of moves keeps it.
struct TreeNode {
  TrialId id{};
  Move move;
  double objective = std::numeric_limits<double>::infinity();  ///< lower is better; infinity unless ok
  double progress = 0.0;                                       ///< see graded_progress
  Verdict verdict = Verdict::not_generated;
  bool foreign = false;     ///< the policy never proposed it
  bool unanswered = false;  ///< an outage: nothing is known of what was proposed (Evaluation::unanswered)
  double build_seconds = 0.0;
  Features features;

  [[nodiscard]] bool ok() const noexcept { return verdict == Verdict::ok; }
  /// Whether there is code that a move could start from.
  [[nodiscard]] bool generated() const noexcept { return has_candidate(verdict); }
  /// Whether it is an answer that a strategy does not apply to the parent.
  [[nodiscard]] bool not_applicable() const noexcept { return verdict == Verdict::not_applicable; }
  /// Whether it says nothing of what its parent can become by a try: no child, no sample, no visit.
  [[nodiscard]] bool is_no_try() const noexcept { return not_applicable() || unanswered; }
};

/// The trials of a search over moves, each joined to the trials that it was made of: a tree as long as no
/// move has two parents, an acyclic graph otherwise (a Boost.Graph adjacency list). Nodes are numbered from 0
/// in the order in which they were recorded.
///
/// Outcomes may come in any order: a child that is recorded before its parent is joined to it once that
/// comes. A claim that would close a cycle is dropped.
class SearchTree {
 public:
  SearchTree();
  ~SearchTree();
  SearchTree(SearchTree&&) noexcept;
  SearchTree& operator=(SearchTree&&) noexcept;

  /// What `record` did.
  struct Recorded {
    std::size_t node = 0;
    bool fresh = false;  ///< false: the trial was known and its outcome has been replaced
  };
  Recorded record(const Observation<Move>& observation);

  [[nodiscard]] std::size_t size() const noexcept;
  [[nodiscard]] const TreeNode& node(std::size_t index) const;
  [[nodiscard]] std::optional<std::size_t> find(TrialId id) const;
  /// Parents that were recorded, in the order that the move names them.
  [[nodiscard]] std::vector<std::size_t> parents(std::size_t index) const;
  /// In the order recorded.
  [[nodiscard]] std::vector<std::size_t> children(std::size_t index) const;
  /// The first of `parents`, without a list.
  [[nodiscard]] std::optional<std::size_t> first_parent(std::size_t index) const;
  /// The right kernel with the lowest objective, the first recorded of equals.
  [[nodiscard]] std::optional<std::size_t> best() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace kernelsearch

#if KERNELSEARCH_HEADER_ONLY
#  include "kernelsearch/policy/impl/search_tree_impl.hpp"
#endif
