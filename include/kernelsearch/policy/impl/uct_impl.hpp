// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cmath>
#include <utility>

#include "kernelsearch/policy/uct.hpp"

namespace kernelsearch {

KERNELSEARCH_INLINE Uct::Uct(UctOptions options)
    : options_(std::move(options)),
      rng_(Rng::stream(options_.seed, "uct")),
      ledger_(options_.strategies, options_.limits) {}

KERNELSEARCH_INLINE std::vector<Move> Uct::ask(std::size_t n) {
  if (ledger_.revisions() != revisions_) sum_up();
  return ledger_.ask(n, [this] { return walk(std::nullopt); });
}

KERNELSEARCH_INLINE void Uct::take_in(std::size_t index, bool visited) {
  const TreeNode& told = ledger_.node(index);
  const double speed = told.ok() && told.objective > 0.0 ? 1.0 / told.objective : 0.0;
  if (speed > 0.0) {
    slowest_ = slowest_ > 0.0 ? std::min(slowest_, speed) : speed;
    fastest_ = std::max(fastest_, speed);
  }
  for (std::optional<std::size_t> at = index; at; at = nodes_[*at].parent) {
    Node& node = nodes_[*at];
    node.finished = false;
    // The walk that proposed it has counted the visit of all above it.
    node.visits += !visited || *at == index ? 1 : 0;
    node.right += speed > 0.0 ? 1 : 0;
    node.speed += speed;
    node.fastest = std::max(node.fastest, speed);
  }
}

/// After a revision: every sum anew, visits as they were.
KERNELSEARCH_INLINE void Uct::sum_up() {
  revisions_ = ledger_.revisions();
  slowest_ = fastest_ = 0.0;
  std::vector<std::size_t> visits;
  for (Node& node : nodes_) {
    visits.push_back(node.visits);
    node.right = 0;
    node.speed = node.fastest = 0.0;
  }
  for (std::size_t i = 0; i < nodes_.size(); ++i) take_in(i, true);
  for (std::size_t i = 0; i < nodes_.size(); ++i) nodes_[i].visits = visits[i];
}

KERNELSEARCH_INLINE double Uct::value(const Node& node) const {
  const double range = fastest_ - slowest_;
  if (node.right == 0) return 0.0;
  if (options_.backup == UctBackup::best) return range > 0.0 ? (node.fastest - slowest_) / range : 1.0;
  const double scaled = range > 0.0 ? (node.speed - static_cast<double>(node.right) * slowest_) / range
                                    : static_cast<double>(node.right);
  return scaled / static_cast<double>(node.visits);
}

KERNELSEARCH_INLINE Move Uct::expand(std::size_t index) {
  for (std::optional<std::size_t> at = index; at; at = nodes_[*at].parent) ++nodes_[*at].visits;
  if (ledger_.can_debug(index)) return ledger_.propose_debug(index);
  return ledger_.propose(index, ledger_.least_tried(index, rng_));
}

KERNELSEARCH_INLINE std::optional<Move> Uct::walk(std::optional<std::size_t> from) {
  if (from) {
    const Node& node = nodes_[*from];
    const double may =
        std::ceil(options_.widening * std::pow(static_cast<double>(node.visits), options_.widening_power));
    const std::size_t has = node.children.size() + ledger_.pending_on(*from);
    if (ledger_.open(*from) && static_cast<double>(has) < may) return expand(*from);
  }
  const std::vector<std::size_t>& children = from ? nodes_[*from].children : tops_;
  double visits = from ? static_cast<double>(nodes_[*from].visits) : 1.0;
  if (!from)
    for (const std::size_t top : tops_) visits += static_cast<double>(nodes_[top].visits);
  std::vector<std::pair<double, std::size_t>> bounds;
  for (const std::size_t child : children)
    if (!nodes_[child].finished)
      bounds.emplace_back(
          -(value(nodes_[child]) +
            options_.exploration * std::sqrt(std::log(visits) / static_cast<double>(nodes_[child].visits))),
          child);
  std::sort(bounds.begin(), bounds.end());
  for (const auto& [bound, child] : bounds)
    if (std::optional<Move> move = walk(child)) return move;
  if (!from) return std::nullopt;
  if (ledger_.open(*from)) return expand(*from);  // wider than allowed, rather than not at all
  nodes_[*from].finished = true;
  return std::nullopt;
}

KERNELSEARCH_INLINE void Uct::tell(std::span<const Observation<Move>> batch) {
  for (const Observation<Move>& observation : batch) {
    ledger_.tell(observation);
    const std::size_t index = *ledger_.tree().find(observation.outcome.id);
    if (index < nodes_.size()) continue;  // revised
    nodes_.emplace_back();
    nodes_[index].parent = ledger_.tree().first_parent(index);
    if (ledger_.node(index).is_no_try()) {  // no node of the walk: the visit is taken back
      nodes_[index].finished = true;
      if (observation.outcome.origin)
        for (auto at = nodes_[index].parent; at; at = nodes_[*at].parent) --nodes_[*at].visits;
      continue;
    }
    if (const auto parent = nodes_[index].parent)
      nodes_[*parent].children.push_back(index);
    else
      tops_.push_back(index);
    const auto& origin = observation.outcome.origin;
    take_in(index, origin && origin->index == 0);
  }
}

}  // namespace kernelsearch
