// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "kernelsearch/core/config_macros.hpp"
#include "kernelsearch/core/move.hpp"
#include "kernelsearch/core/rng.hpp"
#include "kernelsearch/policy/search_tree.hpp"

namespace kernelsearch {

/// When to stop trying one strategy on one kernel.
struct MoveLimits {
  /// Tries of one strategy on one kernel. A model may answer differently each time; a rule may not.
  std::size_t variants = std::numeric_limits<std::size_t>::max();
  /// Tries in a row without a candidate after which the strategy is given up on that kernel.
  std::size_t max_failures = 1;
  std::size_t debugs = 2;       ///< attempts to repair one failed kernel
  bool repaired_again = false;  ///< whether a failed kernel that a child of it repaired is repaired again
  /// Attempts to repair a kernel and what came of repairing it, all together (GEAK: rounds of debugging).
  std::size_t chain_debugs = std::numeric_limits<std::size_t>::max();
};

/// One use of a strategy: on which node, and what came of it.
struct Pull {
  std::size_t parent = 0;
  std::size_t strategy = 0;
  std::size_t child = 0;
};

/// What every policy over moves keeps, so that each is only its way of choosing: the tree, what is
/// outstanding, which strategies are still open on which kernel, and the log of pulls.
///
/// No proposal is ever repeated, because the tries of a strategy on a kernel are numbered by `Move::variant`.
/// A strategy is closed on a kernel once its limits are reached, or it was judged not to apply there
/// (`Verdict::not_applicable`), which counts as no child and no pull. An outage (`Evaluation::unanswered`)
/// counts for nothing and closes nothing. A search ends when all are closed on
/// all kernels. Without names there is one strategy, which the generator chooses (`Move::strategies` is
/// empty).
class MoveLedger {
 public:
  explicit MoveLedger(std::vector<std::string> strategies, MoveLimits limits = {});

  /// Takes an outcome in: a known trial's replaces what was known, and `revisions()` rises.
  void tell(const Observation<Move>& observation);

  /// At most `n` proposals: the root first, then what `choose()`, an optional Move, gives until it gives
  /// none.
  template <class Choose>
  [[nodiscard]] std::vector<Move> ask(std::size_t n, Choose choose) {
    std::vector<Move> moves;
    if (n > 0)
      if (std::optional<Move> root = propose_root()) moves.push_back(*std::move(root));
    while (moves.size() < n) {
      std::optional<Move> move = choose();
      if (!move) break;
      moves.push_back(*std::move(move));
    }
    return moves;
  }

  /// The problem's own kernel; nothing once it was proposed, or told from outside.
  [[nodiscard]] std::optional<Move> propose_root();
  /// The strategy on the node, which must be open there.
  [[nodiscard]] Move propose(std::size_t node, std::size_t strategy, MoveKind kind = MoveKind::rewrite);
  /// To repair a failed node; `can_debug(node)` must hold.
  [[nodiscard]] Move propose_debug(std::size_t node);
  /// To join two nodes; nothing where that pair was joined before.
  [[nodiscard]] std::optional<Move> propose_recombination(std::size_t a, std::size_t b);

  [[nodiscard]] const SearchTree& tree() const noexcept { return tree_; }
  [[nodiscard]] const TreeNode& node(std::size_t index) const { return tree_.node(index); }
  /// Number of strategies, at least 1.
  [[nodiscard]] std::size_t strategies() const noexcept { return names_.size(); }
  [[nodiscard]] const std::string& name(std::size_t strategy) const { return names_[strategy]; }
  [[nodiscard]] std::optional<std::size_t> strategy_of(std::string_view name) const;

  [[nodiscard]] bool open(std::size_t node, std::size_t strategy) const;
  /// Whether any strategy is open on the node.
  [[nodiscard]] bool open(std::size_t node) const { return open_arms_[node] > 0; }
  [[nodiscard]] std::vector<std::size_t> open_strategies(std::size_t node) const;
  /// An open strategy of the node, drawn from those tried least on it.
  [[nodiscard]] std::size_t least_tried(std::size_t node, Rng& rng) const;
  /// Whether the node failed and may be repaired: not where its limits are reached, nor where it was repaired
  /// already, itself or as what it was to repair.
  [[nodiscard]] bool can_debug(std::size_t node) const;
  /// Tries of the strategy on the node, finished or not.
  [[nodiscard]] std::size_t tries(std::size_t node, std::size_t strategy) const;
  /// Tries of the strategy on the node that are outstanding.
  [[nodiscard]] std::size_t pending(std::size_t node, std::size_t strategy) const;
  /// The same on all nodes together.
  [[nodiscard]] std::size_t pending(std::size_t strategy) const { return pending_[strategy]; }
  /// All proposals that are outstanding on the node.
  [[nodiscard]] std::size_t pending_on(std::size_t node) const { return arms_pending_[node]; }
  [[nodiscard]] std::size_t outstanding() const noexcept { return outstanding_; }
  /// Children of the node that were told, and how many of them are right; answers that a strategy does not
  /// apply, and outages, do not count.
  [[nodiscard]] std::size_t children(std::size_t node) const { return children_[node]; }
  [[nodiscard]] std::size_t right_children(std::size_t node) const { return right_children_[node]; }

  /// Objective, minus progress, node: best first. Nodes that have code and a strategy still open.
  using Ranking = std::set<std::tuple<double, double, std::size_t>>;
  [[nodiscard]] const Ranking& expandable() const noexcept { return expandable_; }
  /// The best of them.
  [[nodiscard]] std::optional<std::size_t> best_expandable() const;

  /// The results of strategies in the order told, also of trials from outside that name a known parent and
  /// strategy. Tries without a candidate are left out: they say nothing about the strategy's worth.
  [[nodiscard]] std::span<const Pull> pulls() const noexcept { return pulls_; }
  /// Rises when an outcome was replaced, so that sums made from `pulls()` are out of date.
  [[nodiscard]] std::uint64_t revisions() const noexcept { return revisions_; }

 private:
  struct Arm {
    std::uint32_t tries = 0;
    std::uint32_t pending = 0;
    std::uint32_t failures = 0;  ///< in a row: tries without a candidate
    std::uint32_t lost = 0;      ///< tries to which nobody answered, which count for no limit
    bool spent = false;          ///< closed by the number of tries, not by what came of them
    bool closed = false;
  };
  static constexpr std::size_t none = std::numeric_limits<std::size_t>::max();
  struct Proposed {
    std::size_t node = none;
    std::size_t arm = none;
    std::uint32_t left = 1;
    bool begun = false;
  };

  [[nodiscard]] std::size_t width() const noexcept { return names_.size() + 1; }  // the last arm: debugging
  [[nodiscard]] Arm& arm(std::size_t node, std::size_t strategy) { return arms_[node * width() + strategy]; }
  [[nodiscard]] const Arm& arm(std::size_t node, std::size_t strategy) const {
    return arms_[node * width() + strategy];
  }
  [[nodiscard]] Ranking::value_type rank_of(std::size_t node) const;
  /// What a failed node was to repair, if that is what it was made for.
  [[nodiscard]] std::optional<std::size_t> mended_by(std::size_t node) const;
  /// The kernel that failed first of those that led to the node by debug moves.
  [[nodiscard]] std::size_t chain_of(std::size_t node) const;
  void add_node(std::size_t node);
  void close(std::size_t node, std::size_t strategy);
  void take_back(std::size_t node, std::size_t strategy);
  void proposed(std::size_t node, std::size_t strategy);
  void settle(Proposed& proposal, const Outcome& outcome);
  void count_child(std::size_t child, std::ptrdiff_t told, std::ptrdiff_t right);
  void log_pull(std::size_t child, const Move& move);

  std::vector<std::string> names_;
  bool named_;
  MoveLimits limits_;
  SearchTree tree_;
  std::vector<Proposed> proposals_;        // by number
  std::vector<Arm> arms_;                  // node after node
  std::vector<std::size_t> open_arms_;     // by node, without debugging
  std::vector<std::size_t> arms_pending_;  // by node
  std::vector<std::size_t> children_, right_children_;
  std::vector<std::size_t> chain_debugs_;  // by the node that a chain begins with: debug moves
  std::vector<std::size_t> pending_;       // by strategy
  std::set<std::pair<std::size_t, std::size_t>> joined_;
  Ranking expandable_;
  std::vector<Pull> pulls_;
  std::size_t outstanding_ = 0;
  std::uint64_t revisions_ = 0;
  bool root_known_ = false;
};

}  // namespace kernelsearch

#if KERNELSEARCH_HEADER_ONLY
#  include "kernelsearch/policy/impl/move_ledger_impl.hpp"
#endif
