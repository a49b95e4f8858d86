// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "kernelsearch/space/impl/relation_impl.hpp"

namespace kernelsearch::detail {

/// Chooses the order in which a group's tunables are assigned: the one with the least estimated work, found
/// over sets of assigned tunables (the estimate depends on the set alone). Exact for small groups, a beam
/// search for larger ones. The order of declaration decides ties only.
class GroupOrder {
 public:
  GroupOrder(const Formulas& formulas, const std::vector<const Relation*>& relations,
             std::vector<std::uint32_t> group)
      : formulas_(formulas), group_(std::move(group)), nodes_(formulas.size()) {
    for (std::size_t i = 0; i < group_.size(); ++i) {
      sizes_.push_back(static_cast<double>(formulas.domain_size(group_[i])));
    }
    for (const Relation* relation : relations) {
      Part part{relation, {}};
      for (std::size_t i = 0; i < group_.size(); ++i) {
        if (std::binary_search(relation->scope.begin(), relation->scope.end(), group_[i]))
          part.members.push_back(i);
      }
      if (group_.size() <= 64) {
        for (const std::size_t i : part.members) part.mask |= std::uint64_t{1} << i;
      }
      parts_.push_back(std::move(part));
      if (relation->root != Formulas::none && group_.size() <= 64) describe(relation->root);
    }
  }

  std::vector<std::uint32_t> choose() {
    if (group_.size() == 1) return group_;
    return group_.size() <= 64 ? beam() : greedy();
  }

 private:
  struct Part {
    const Relation* relation;
    std::vector<std::size_t> members;
    std::uint64_t mask = 0;
  };
  struct Step {
    std::uint64_t set = 0;
    double cost = 0, states = 1;
    std::uint32_t parent = 0;
    std::uint8_t added = 0;
  };

  std::vector<std::uint32_t> beam() {
    // 1716 = 13 choose 6: up to 13 tunables the beam holds every set, so the search is exact
    constexpr std::size_t width_of_exact = 1716, width_of_large = 300;
    const std::size_t n = group_.size();
    const std::size_t width = n <= 13 ? width_of_exact : width_of_large;
    std::vector<std::vector<Step>> layers{{Step{}}};
    for (std::size_t level = 0; level < n; ++level) {
      std::vector<Step> next;
      std::unordered_map<std::uint64_t, std::uint32_t> seen;
      const std::vector<Step>& current = layers.back();
      for (std::uint32_t s = 0; s < current.size(); ++s) {
        for (std::uint8_t i = 0; i < n; ++i) {
          const std::uint64_t bit = std::uint64_t{1} << i;
          if ((current[s].set & bit) != 0) continue;
          const std::uint64_t set = current[s].set | bit;
          const double work = current[s].cost + current[s].states * (8 + sizes_[i]);
          const auto [slot, fresh] = seen.emplace(set, static_cast<std::uint32_t>(next.size()));
          if (fresh) {
            const double states = estimate(set);
            next.push_back({set, work + 4 * states, states, s, i});
          } else if (Step& known = next[slot->second]; work + 4 * known.states < known.cost) {
            known.cost = work + 4 * known.states;
            known.parent = s;
            known.added = i;
          }
        }
      }
      if (next.size() > width) {
        std::nth_element(
            next.begin(), next.begin() + static_cast<std::ptrdiff_t>(width), next.end(),
            [](const Step& a, const Step& b) { return a.cost != b.cost ? a.cost < b.cost : a.set < b.set; });
        next.resize(width);
      }
      layers.push_back(std::move(next));
    }
    std::vector<std::uint32_t> order(n);
    std::uint32_t at = 0;
    for (std::size_t level = n; level > 0; --level) {
      order[level - 1] = group_[layers[level][at].added];
      at = layers[level][at].parent;
    }
    return order;
  }

  /// How many states may have to be kept apart once the tunables of `set` are assigned.
  double estimate(std::uint64_t set) {
    double by_tunables = 1, by_relations = 1;
    std::uint64_t open = 0;
    for (const Part& part : parts_) {
      if ((part.mask & ~set) == 0) continue;
      open |= part.mask & set;
      if ((part.mask & set) != 0) by_relations *= residues(part, set);
    }
    for (std::uint64_t rest = open; rest != 0; rest &= rest - 1)
      by_tunables *= sizes_[static_cast<std::size_t>(std::countr_zero(rest))];
    for (const Part& part : parts_) {
      if ((part.mask & ~open) == 0) by_tunables *= part.relation->density;
    }
    return std::max(1.0, std::min(by_tunables, by_relations));
  }

  /// How many ways of going on a relation distinguishes once part of its scope is assigned.
  double residues(const Part& part, std::uint64_t set) {
    if (part.relation->root == Formulas::none) {
      double product = 1;
      for (const std::size_t i : part.members) {
        if (((set >> i) & 1) != 0) product *= sizes_[i];
      }
      return product;
    }
    set_ = set;
    return kept(part.relation->root);
  }

  /// What the estimates ask about each node, once: its tunables as a set and how many values it can have.
  void describe(NodeId id) {
    Node& info = nodes_[id];
    if (info.known) return;
    const FormulaNode& node = formulas_.node(id);
    info.known = true;
    for (const std::uint32_t tunable : node.scope) {
      const auto at = std::find(group_.begin(), group_.end(), tunable) - group_.begin();
      info.mask |= std::uint64_t{1} << at;
      info.distinct *= static_cast<double>(formulas_.domain_size(tunable));
    }
    if (!node.real) info.distinct = std::min(info.distinct, node.high - node.low + 1);
    for (const NodeId arg : node.args) describe(arg);
  }

  double kept(NodeId id) const {
    const Node& info = nodes_[id];
    if ((info.mask & set_) == 0) return 1;
    if ((info.mask & ~set_) == 0) return info.distinct;
    const FormulaNode& node = formulas_.node(id);
    double product = 1, joined = 1, span = 0;
    const bool many = is_many(node.op) && !node.real;
    for (const NodeId arg : node.args) {
      if (many && (nodes_[arg].mask & ~set_) == 0) {
        const FormulaNode& operand = formulas_.node(arg);
        joined *= nodes_[arg].distinct;
        span = node.op == FormulaOp::add ? span + operand.high - operand.low
                                         : std::numeric_limits<double>::infinity();
        if (is_logic(node.op)) span = 1;
      } else {
        product *= kept(arg);
      }
    }
    return product * std::min(joined, span + 1);
  }

  /// For groups too large for sets in one word: next, the tunable that leaves the fewest combinations open.
  std::vector<std::uint32_t> greedy() {
    std::vector<std::uint32_t> order;
    std::vector<bool> placed(group_.size(), false);
    while (order.size() < group_.size()) {
      double best = 0;
      std::size_t choice = group_.size();
      for (std::size_t i = 0; i < group_.size(); ++i) {
        if (placed[i]) continue;
        placed[i] = true;
        std::vector<bool> open(group_.size(), false);
        for (const Part& part : parts_) {
          const bool complete =
              std::all_of(part.members.begin(), part.members.end(), [&](std::size_t m) { return placed[m]; });
          for (const std::size_t m : part.members) open[m] = open[m] || (placed[m] && !complete);
        }
        placed[i] = false;
        double states = 1;
        for (std::size_t m = 0; m < group_.size(); ++m) states *= open[m] ? sizes_[m] : 1;
        if (choice == group_.size() || states < best) {
          best = states;
          choice = i;
        }
      }
      placed[choice] = true;
      order.push_back(group_[choice]);
    }
    return order;
  }

  const Formulas& formulas_;
  std::vector<std::uint32_t> group_;
  std::vector<double> sizes_;
  std::vector<Part> parts_;
  struct Node {
    std::uint64_t mask = 0;
    double distinct = 1;
    bool known = false;
  };
  std::vector<Node> nodes_;
  std::uint64_t set_ = 0;
};

}  // namespace kernelsearch::detail
