// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernelsearch/core/rng.hpp"

namespace kernelsearch::detail {

/// Eight streams of xoshiro256++ (Blackman and Vigna, 2018) side by side, four to a vector of 32 bytes, which
/// processors without such vectors compute in halves: for arrays of millions of elements that are drawn for
/// each timed call. What it draws is not part of any record.
class LaneRng {
 public:
  static constexpr std::size_t vector_bytes = 32;
  using Lanes [[gnu::vector_size(vector_bytes)]] = std::uint64_t;
  /// Random bits of one draw.
  struct Block {
    Lanes pair[2];
  };

  explicit LaneRng(std::uint64_t seed) noexcept {
    Rng seeds(seed);
    for (auto& half : state_)
      for (Lanes& word : half) word = Lanes{seeds(), seeds(), seeds(), seeds()};
  }

  /// Inlined everywhere, so that it uses what its caller is compiled for.
  [[gnu::always_inline]] inline void operator()(Block& out) noexcept {
    for (int half = 0; half < 2; ++half) {
      Lanes* const s = state_[half];
      const Lanes sum = s[0] + s[3];
      out.pair[half] = ((sum << 23) | (sum >> 41)) + s[0];
      const Lanes t = s[1] << 17;
      s[2] ^= s[0];
      s[3] ^= s[1];
      s[1] ^= s[2];
      s[0] ^= s[3];
      s[2] ^= t;
      s[3] = (s[3] << 45) | (s[3] >> 19);
    }
  }

 private:
  Lanes state_[2][4];
};

}  // namespace kernelsearch::detail
