// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

#include "kernelsearch/core/config_macros.hpp"

namespace kernelsearch {

/// A seeded stream of random numbers that draws the same values with every compiler and library
/// (xoshiro256**, Blackman and Vigna, 2018; seeded through SplitMix64). The std distributions are not used
/// because their results differ between standard libraries.
class Rng {
 public:
  using result_type = std::uint64_t;

  explicit Rng(std::uint64_t seed = 0) noexcept {
    for (auto& word : state_) word = split_mix(seed);
  }

  /// A stream of its own for `role`, so that one part's draws never shift another's.
  [[nodiscard]] static Rng stream(std::uint64_t seed, std::string_view role) noexcept {
    std::uint64_t hash = 0xcbf29ce484222325ULL;  // FNV-1a
    for (const char c : role) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
    return Rng(seed ^ hash);
  }

  [[nodiscard]] static constexpr std::uint64_t min() noexcept { return 0; }
  [[nodiscard]] static constexpr std::uint64_t max() noexcept { return ~std::uint64_t{0}; }

  std::uint64_t operator()() noexcept {
    const std::uint64_t result = rotl(state_[1] * 5, 7) * 9;
    const std::uint64_t t = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= t;
    state_[3] = rotl(state_[3], 45);
    return result;
  }

  /// Uniform in [0, bound), without bias (Lemire, 2019); `bound` must not be 0.
  [[nodiscard]] std::uint64_t below(std::uint64_t bound) noexcept {
    __extension__ using Wide = unsigned __int128;
    Wide product = static_cast<Wide>((*this)()) * bound;
    if (auto low = static_cast<std::uint64_t>(product); low < bound) {
      const std::uint64_t threshold = (0 - bound) % bound;
      while (low < threshold) {
        product = static_cast<Wide>((*this)()) * bound;
        low = static_cast<std::uint64_t>(product);
      }
    }
    return static_cast<std::uint64_t>(product >> 64);
  }

  /// Uniform in [0, 1) with 53 bits.
  [[nodiscard]] double uniform() noexcept { return static_cast<double>((*this)() >> 11) * 0x1.0p-53; }

  /// Uniform in [low, high).
  [[nodiscard]] double uniform(double low, double high) noexcept { return low + (high - low) * uniform(); }

  /// Standard normal (Box and Muller, 1958, one of the pair).
  [[nodiscard]] double normal() noexcept;

  /// True with probability `p`.
  [[nodiscard]] bool chance(double p) noexcept { return uniform() < p; }

  /// Shuffles in place (Fisher and Yates).
  template <class Range>
  void shuffle(Range& range) noexcept {
    using std::swap;
    for (std::uint64_t i = range.size(); i > 1; --i) swap(range[i - 1], range[below(i)]);
  }

 private:
  static constexpr std::uint64_t rotl(std::uint64_t x, int k) noexcept { return (x << k) | (x >> (64 - k)); }
  static constexpr std::uint64_t split_mix(std::uint64_t& x) noexcept {
    std::uint64_t z = (x += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }

  std::array<std::uint64_t, 4> state_{};
};

}  // namespace kernelsearch

#if KERNELSEARCH_HEADER_ONLY
#  include "kernelsearch/core/impl/rng_impl.hpp"
#endif
