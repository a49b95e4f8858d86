// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <utility>

#include "kernelsearch/space/impl/space_data.hpp"

namespace kernelsearch::detail {

KERNELSEARCH_INLINE std::size_t Trie::bytes() const noexcept {
  std::size_t total = sizeof(Trie) + before.capacity() * sizeof(std::uint64_t) + count.heap_bytes();
  for (const auto* words : {&tunables, &begin, &value, &child})
    total += words->capacity() * sizeof(std::uint32_t);
  for (const BigCount& big : big_before) total += sizeof(BigCount) + big.heap_bytes();
  return total;
}

KERNELSEARCH_INLINE std::uint32_t Trie::edge(std::uint32_t node, std::uint32_t at) const noexcept {
  const auto first = value.begin() + begin[node], last = value.begin() + begin[node + 1];
  const auto found = std::lower_bound(first, last, at);
  return found != last && *found == at ? static_cast<std::uint32_t>(found - value.begin()) : none;
}

inline std::uint64_t mix(std::uint64_t hash, std::uint64_t word) noexcept {
  hash = (hash ^ word) * 0x9e3779b97f4a7c15ULL;
  return hash ^ (hash >> 29);
}

/// Gives each distinct list of edges one node number; open addressing over the nodes of one level.
class NodeTable {
 public:
  explicit NodeTable(Trie& trie, std::size_t expected) : trie_(trie) {
    std::size_t size = 16;
    while (size < 2 * expected) size *= 2;
    slots_.assign(size, Trie::none);
  }

  /// The node whose edges are those appended to the trie since its last node; keeps them only if it is new.
  std::uint32_t intern() {
    const std::uint32_t first = trie_.begin.back();
    const auto count = static_cast<std::uint32_t>(trie_.value.size()) - first;
    std::uint64_t hash = count;
    for (std::uint32_t e = first; e < first + count; ++e) {
      hash = mix(hash, (std::uint64_t{trie_.value[e]} << 32) | trie_.child[e]);
    }
    std::size_t at = hash & (slots_.size() - 1);
    for (; slots_[at] != Trie::none; at = (at + 1) & (slots_.size() - 1)) {
      if (!same(slots_[at], first, count)) continue;
      trie_.value.resize(first);
      trie_.child.resize(first);
      return slots_[at];
    }
    const auto node = static_cast<std::uint32_t>(trie_.begin.size() - 1);
    trie_.begin.push_back(first + count);
    slots_[at] = node;
    return node;
  }

 private:
  bool same(std::uint32_t node, std::uint32_t first, std::uint32_t count) const {
    const std::uint32_t other = trie_.begin[node];
    return trie_.begin[node + 1] - other == count &&
           std::equal(trie_.value.begin() + first, trie_.value.begin() + first + count,
                      trie_.value.begin() + other) &&
           std::equal(trie_.child.begin() + first, trie_.child.begin() + first + count,
                      trie_.child.begin() + other);
  }

  Trie& trie_;
  std::vector<std::uint32_t> slots_;
};

/// Fills `before` and the count; false where 64 bits do not suffice.
inline bool count_small(Trie& trie) {
  std::vector<std::uint64_t> below(trie.node_count(), 1);
  trie.before.resize(trie.value.size());
  for (std::size_t node = 1; node < below.size(); ++node) {
    std::uint64_t sum = 0;
    for (std::uint32_t e = trie.begin[node]; e < trie.begin[node + 1]; ++e) {
      trie.before[e] = sum;
      if (__builtin_add_overflow(sum, below[trie.child[e]], &sum)) return false;
    }
    below[node] = sum;
  }
  trie.small_count = below[trie.root];
  trie.count = trie.small_count;
  return true;
}

inline void count_big(Trie& trie) {
  trie.small = false;
  trie.before.clear();
  trie.before.shrink_to_fit();
  std::vector<BigCount> below(trie.node_count(), BigCount(1));
  trie.big_before.resize(trie.value.size());
  for (std::size_t node = 1; node < below.size(); ++node) {
    BigCount sum;
    for (std::uint32_t e = trie.begin[node]; e < trie.begin[node + 1]; ++e) {
      trie.big_before[e] = sum;
      sum += below[trie.child[e]];
    }
    below[node] = std::move(sum);
  }
  trie.count = below[trie.root];
}

KERNELSEARCH_INLINE Trie reduce(const Layers& layers, std::vector<std::uint32_t> tunables) {
  Trie trie;
  trie.tunables = std::move(tunables);
  trie.begin = {0, 0};               // the end has no edges
  std::vector<std::uint32_t> below;  // state of the layer below -> node; the last layer leads to the end
  for (std::size_t level = layers.layers.size(); level-- > 0;) {
    const Layers::Layer& layer = layers.layers[level];
    const std::size_t states = layer.begin.size() - 1;
    const bool last = level + 1 == layers.layers.size();
    NodeTable table(trie, states);
    std::vector<std::uint32_t> nodes(states, Trie::none);
    for (std::size_t state = 0; state < states; ++state) {
      for (std::uint32_t e = layer.begin[state]; e < layer.begin[state + 1]; ++e) {
        const std::uint32_t child = last ? 0 : below[layer.next[e]];
        if (child == Trie::none) continue;
        trie.value.push_back(layer.value[e]);
        trie.child.push_back(child);
      }
      if (trie.value.size() > trie.begin.back()) nodes[state] = table.intern();
    }
    below = std::move(nodes);
  }
  if (below.empty() || below[0] == Trie::none) {
    trie.begin = {0};
    return trie;
  }
  trie.root = below[0];
  for (auto* words : {&trie.begin, &trie.value, &trie.child}) words->shrink_to_fit();
  if (!count_small(trie)) count_big(trie);
  return trie;
}

}  // namespace kernelsearch::detail
