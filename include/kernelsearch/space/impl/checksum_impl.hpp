// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernelsearch/space/impl/space_data.hpp"
#include "kernelsearch/space/space.hpp"

namespace kernelsearch::detail {

/// The remainders of crc32 as zlib computes it (polynomial 0xEDB88320, reflected), by byte.
inline const std::array<std::uint32_t, 256>& crc_table() noexcept {
  static const auto table = [] {
    std::array<std::uint32_t, 256> entries{};
    for (std::uint32_t i = 0; i < 256; ++i) {
      std::uint32_t c = i;
      for (int bit = 0; bit < 8; ++bit) c = (c >> 1) ^ ((c & 1) != 0 ? 0xEDB88320U : 0U);
      entries[i] = c;
    }
    return entries;
  }();
  return table;
}

inline std::uint32_t crc32(std::string_view text) noexcept {
  std::uint32_t crc = ~std::uint32_t{0};
  for (const char c : text) crc = (crc >> 8) ^ crc_table()[(crc ^ static_cast<unsigned char>(c)) & 0xFF];
  return ~crc;
}

/// How many of a set of texts there are, and for how many of them each bit of the crc is set, mod 2^64.
struct CrcTally {
  std::uint64_t count = 0;
  std::array<std::uint64_t, 32> ones{};

  /// The tally after all crcs are changed by xor.
  void add_flipped(const CrcTally& other, std::uint32_t flip) noexcept {
    count += other.count;
    for (unsigned bit = 0; bit < 32; ++bit) {
      const std::uint64_t mask = 0 - std::uint64_t{(flip >> bit) & 1};
      ones[bit] += (other.ones[bit] ^ mask) + (mask & (other.count + 1));  // count - ones where flipped
    }
  }
};

/// The crc register after another zero byte.
inline std::uint32_t crc_past_zero(std::uint32_t crc) noexcept {
  return (crc >> 8) ^ crc_table()[crc & 0xFF];
}

/// Sums over the texts of all paths, without following each: crc is linear over xor, so what a value adds to
/// it depends only on the text behind it, of which only the length matters. From the last tunable to the
/// first, each node of the trie keeps, per length of text so far, a tally of the bits.
inline std::uint64_t checksum_of(const Trie& trie, const std::vector<Tunable>& tunables) {
  using Tallies = std::vector<CrcTally>;  // by length of the text so far
  std::vector<Tallies> tallies(trie.node_count());
  std::vector<std::size_t> level(trie.node_count(), 0);
  tallies[trie.root] = {CrcTally{}};
  tallies[trie.root][0].count = 1;
  // raw[value][length]: the value's crc without initial and final xor, moved past `length` bytes
  std::vector<std::vector<std::vector<std::uint32_t>>> raw(tunables.size());
  for (std::size_t t = 0; t < tunables.size(); ++t) raw[t].resize(tunables[t].values.size());
  std::vector<std::vector<std::size_t>> lengths(tunables.size());
  for (std::size_t t = 0; t < tunables.size(); ++t) {
    for (const Value& value : tunables[t].values) {
      lengths[t].push_back(to_string(value).size() + (t + 1 < tunables.size() ? 1 : 0));
    }
  }
  for (std::uint32_t node = trie.root; node > 0; --node) {
    if (tallies[node].empty()) continue;
    const std::uint32_t tunable = trie.tunables[level[node]];
    for (std::uint32_t e = trie.begin[node]; e < trie.begin[node + 1]; ++e) {
      const std::uint32_t at = trie.value[e], child = trie.child[e];
      std::vector<std::uint32_t>& moved = raw[tunable][at];
      if (moved.empty()) {
        std::uint32_t crc = 0;
        const std::string text =
            to_string(tunables[tunable].values[at]) + (tunable + 1 < tunables.size() ? "," : "");
        for (const char c : text)
          crc = (crc >> 8) ^ crc_table()[(crc ^ static_cast<unsigned char>(c)) & 0xFF];
        moved.push_back(crc);
      }
      const std::size_t length = lengths[tunable][at];
      level[child] = level[node] + 1;
      if (tallies[child].size() < tallies[node].size() + length)
        tallies[child].resize(tallies[node].size() + length);
      for (std::size_t behind = 0; behind < tallies[node].size(); ++behind) {
        if (behind >= moved.size()) moved.push_back(crc_past_zero(moved.back()));
        if (tallies[node][behind].count == 0 && tallies[node][behind].ones[0] == 0) continue;
        tallies[child][behind + length].add_flipped(tallies[node][behind], moved[behind]);
      }
    }
    Tallies().swap(tallies[node]);
  }
  std::uint64_t sum = 0;
  std::uint32_t start = ~std::uint32_t{0};  // the initial register, moved past the whole text
  for (const CrcTally& tally : tallies[0]) {
    CrcTally total;
    total.add_flipped(tally, ~start);
    for (unsigned bit = 0; bit < 32; ++bit) sum += total.ones[bit] << bit;
    start = crc_past_zero(start);
  }
  return sum;
}

KERNELSEARCH_INLINE std::optional<std::uint64_t> space_checksum(const Space& space) {
  constexpr std::size_t most_states = 2'000'000;
  const std::optional<Trie> trie =
      space.data().listed ? std::nullopt : backward_trie(space.data(), most_states);
  if (trie) return checksum_of(*trie, space.data().tunables);
  if (space.count() > BigCount(4'000'000'000ULL)) return std::nullopt;
  std::uint64_t sum = 0;
  space.for_each([&](const Config& config) { sum += crc32(space.key(config)); });
  return sum;
}

}  // namespace kernelsearch::detail
