// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cmath>

#include "kernelsearch/policy/epsilon_greedy_tree.hpp"

namespace kernelsearch {

KERNELSEARCH_INLINE EpsilonGreedyTree::EpsilonGreedyTree(EpsilonGreedyTreeOptions options)
    : options_(std::move(options)),
      rng_(Rng::stream(options_.seed, "epsilon_greedy_tree")),
      ledger_(options_.strategies, options_.limits) {}

KERNELSEARCH_INLINE std::vector<Move> EpsilonGreedyTree::ask(std::size_t n) {
  return ledger_.ask(n, [this] { return choose(); });
}

KERNELSEARCH_INLINE double EpsilonGreedyTree::epsilon() const noexcept {
  const double decayed =
      options_.epsilon * std::pow(options_.epsilon_decay, static_cast<double>(ledger_.tree().size()));
  return options_.epsilon_decay < 1.0 ? std::max(decayed, std::min(options_.least_epsilon, options_.epsilon))
                                      : options_.epsilon;
}

KERNELSEARCH_INLINE bool EpsilonGreedyTree::selectable(std::size_t index) const {
  const TreeNode& node = ledger_.node(index);
  if (!node.ok() ? !ledger_.can_debug(index) : !ledger_.open(index)) return false;
  const std::size_t told = ledger_.children(index);
  if (node.move.kind == MoveKind::root && told + ledger_.pending_on(index) >= options_.root_children)
    return false;
  return told <= options_.dead_children || ledger_.right_children(index) > 0;
}

KERNELSEARCH_INLINE double EpsilonGreedyTree::score(std::size_t index) const {
  const TreeNode& node = ledger_.node(index);
  if (node.ok() || !options_.graded) return node.objective;
  const std::optional<std::size_t> parent = ledger_.tree().first_parent(index);
  return parent ? ledger_.node(*parent).objective * (2.0 - node.progress) : node.objective;
}

KERNELSEARCH_INLINE Move EpsilonGreedyTree::move_on(std::size_t index) {
  if (ledger_.can_debug(index)) return ledger_.propose_debug(index);
  return ledger_.propose(index, ledger_.least_tried(index, rng_));
}

KERNELSEARCH_INLINE std::optional<Move> EpsilonGreedyTree::choose() {
  std::vector<std::size_t> leaves;
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < ledger_.tree().size(); ++i) {
    if (!selectable(i)) continue;
    if (ledger_.children(i) + ledger_.pending_on(i) == 0) leaves.push_back(i);
    if (!best || score(i) < score(*best)) best = i;
  }
  if (!best) {
    if (ledger_.outstanding() > 0) return std::nullopt;  // what comes home may be selectable
    best = ledger_.best_expandable();
    if (!best) return std::nullopt;
    return ledger_.propose(*best, ledger_.least_tried(*best, rng_));
  }
  if (!leaves.empty() && rng_.chance(epsilon())) return move_on(leaves[rng_.below(leaves.size())]);
  return move_on(*best);
}

KERNELSEARCH_INLINE void EpsilonGreedyTree::tell(std::span<const Observation<Move>> batch) {
  for (const Observation<Move>& observation : batch) ledger_.tell(observation);
}

}  // namespace kernelsearch
