// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernelsearch/core/rng.hpp"

namespace kernelsearch::detail {

/// Four streams of xoshiro256++ (Blackman and Vigna, 2018) side by side, two to a vector of 16 bytes, which
/// every processor of 64 bits has: for arrays of millions of elements that are drawn for each timed call.
/// What it draws is no part of any record.
class LaneRng {
 public:
  using Lanes [[gnu::vector_size(16)]] = std::uint64_t;
  /// Random bits of one draw.
  struct Block {
    Lanes pair[2];
  };

  explicit LaneRng(std::uint64_t seed) noexcept {
    Rng seeds(seed);
    for (auto& half : state_)
      for (Lanes& word : half) word = Lanes{seeds(), seeds()};
  }

  void operator()(Block& out) noexcept {
    for (int half = 0; half < 2; ++half) {
      Lanes* const s = state_[half];
      out.pair[half] = rotl<23>(s[0] + s[3]) + s[0];
      const Lanes t = s[1] << 17;
      s[2] ^= s[0];
      s[3] ^= s[1];
      s[1] ^= s[2];
      s[0] ^= s[3];
      s[2] ^= t;
      s[3] = rotl<45>(s[3]);
    }
  }

 private:
  template <int k>
  static Lanes rotl(const Lanes& x) noexcept {
    return (x << k) | (x >> (64 - k));
  }

  Lanes state_[2][4];
};

}  // namespace kernelsearch::detail
