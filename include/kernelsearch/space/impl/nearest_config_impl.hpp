// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "kernelsearch/space/impl/space_data.hpp"

namespace kernelsearch::detail {

/// The combination of one group nearest to `wish`: fewest tunables changed, then fewest positions moved.
inline void nearest_in(const Trie& trie, const Config& wish, Config& config) {
  std::vector<std::uint32_t> level(trie.node_count(), 0);
  std::vector<std::uint64_t> cost(trie.node_count(), 0);
  const auto price = [&](std::uint32_t node_level, std::uint32_t at) -> std::uint64_t {
    const std::uint32_t want = wish.indices[trie.tunables[node_level]];
    return at == want ? 0 : (std::uint64_t{1} << 40) + (at > want ? at - want : want - at);
  };
  level[0] = static_cast<std::uint32_t>(trie.tunables.size());
  for (std::uint32_t node = 1; node < trie.node_count(); ++node) {
    level[node] = level[trie.child[trie.begin[node]]] - 1;
    cost[node] = ~std::uint64_t{0};
    for (std::uint32_t e = trie.begin[node]; e < trie.begin[node + 1]; ++e) {
      cost[node] = std::min(cost[node], cost[trie.child[e]] + price(level[node], trie.value[e]));
    }
  }
  std::uint32_t node = trie.root;
  for (const std::uint32_t tunable : trie.tunables) {
    std::uint32_t e = trie.begin[node];
    while (cost[trie.child[e]] + price(level[node], trie.value[e]) != cost[node]) ++e;
    config.indices[tunable] = trie.value[e];
    node = trie.child[e];
  }
}

inline Config nearest_config(const SpaceData& data, const Config& wish) {
  Config config = data.fixed;
  for (const Trie& trie : data.tries) nearest_in(trie, wish, config);
  return config;
}

}  // namespace kernelsearch::detail
