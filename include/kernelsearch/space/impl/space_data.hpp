// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "kernelsearch/space/big_count.hpp"
#include "kernelsearch/space/constraint.hpp"
#include "kernelsearch/space/space.hpp"
#include "kernelsearch/space/tunable.hpp"

namespace kernelsearch::detail {

/// The valid combinations of one group of tunables: a decision diagram with one level per tunable, in which
/// equal subtrees are one node. Node 0 is the end; children have smaller numbers than their parents.
struct Trie {
  std::vector<std::uint32_t> tunables;  // level -> tunable
  std::vector<std::uint32_t> begin;     // node -> its first edge; one more at the end
  std::vector<std::uint32_t> value;     // edge -> position in Tunable::values, ascending within a node
  std::vector<std::uint32_t> child;     // edge -> node
  // Combinations below the earlier edges of the same node: what ranks and draws search in. One of the two is
  // in use: 64 bits nearly always suffice, and only then are draws fast.
  std::vector<std::uint64_t> before;
  std::vector<BigCount> big_before;
  BigCount count;
  std::uint64_t small_count = 0;
  bool small = true;  // count fits 64 bits
  std::uint32_t root = 0;

  [[nodiscard]] std::size_t node_count() const noexcept { return begin.size() - 1; }
  [[nodiscard]] std::size_t bytes() const noexcept;
  /// The edge of `node` with value `at`, or `none`.
  [[nodiscard]] std::uint32_t edge(std::uint32_t node, std::uint32_t at) const noexcept;
  static constexpr std::uint32_t none = ~std::uint32_t{0};
};

/// A space as built.
struct SpaceData {
  std::vector<Tunable> tunables;
  std::vector<Constraint> constraints;
  std::vector<Constraint> conditions;      // of conditional tunables: active, or at the default
  std::vector<std::uint32_t> conditional;  // the tunables of the conditions
  std::unordered_map<std::string, std::size_t> by_name;
  std::vector<Trie> tries;                         // groups with more than one combination
  std::vector<std::uint32_t> group_of;             // tunable -> trie, or Trie::none where it is fixed
  std::vector<std::uint32_t> level_of;             // tunable -> level in its trie
  std::vector<std::vector<std::uint32_t>> usable;  // tunable -> positions that occur
  Config fixed;                                    // positions of the fixed tunables, 0 elsewhere
  Config default_config;
  BigCount count;
  BigCount raw_count;
  double build_seconds = 0;
  bool listed = false;  // made from a list: its last constraint is no more than a look into it
};

/// The edges found while building one group from its first level to its last, dead ends included.
struct Layers {
  struct Layer {
    std::vector<std::uint32_t> begin{0};  // state -> its first edge; one more at the end
    std::vector<std::uint32_t> value;     // edge -> position of the value
    std::vector<std::uint32_t> next;      // edge -> state of the next layer
  };
  std::vector<Layer> layers;
};

/// Merges equal subtrees from the last level up, drops dead ends and counts. Empty (begin.size() == 1) where
/// nothing is left.
[[nodiscard]] Trie reduce(const Layers& layers, std::vector<std::uint32_t> tunables);

/// One trie over all tunables, in the order opposite to their declaration; empty where it would need more
/// than `max_states` states.
[[nodiscard]] std::optional<Trie> backward_trie(const SpaceData& data, std::size_t max_states);

}  // namespace kernelsearch::detail
