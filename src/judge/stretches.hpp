// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "kernelsearch/core/rng.hpp"
#include "kernelsearch/problem/argument.hpp"

namespace kernelsearch::detail {

/// What may be varied of an array's distribution, in ranks: 0 is the least that is declared, 1 the greatest.
struct DeclaredRange {
  bool varies = false;         ///< false: drawn as declared, by the problem's word or by what it means
  std::optional<double> zero;  ///< the rank of 0 where 0 may be drawn
};
/// Of an argument with its numbers for a shape.
[[nodiscard]] DeclaredRange declared_range(const Argument& argument);

/// A part of the ranks.
struct RankRange {
  float from = 0, to = 1;
};

/// Elements that follow one another and have parameters in common: element i has ranks of `lanes[i % 8]`.
struct Stretch {
  static constexpr std::size_t lanes = 8;
  std::array<RankRange, lanes> ranks{};
  std::uint32_t zeros = 0;     ///< of 256 elements so many, at random places, are 0
  std::size_t count = 0;       ///< elements
  std::uint32_t outliers = 0;  ///< elements that lie near the ends of the array's range, at most 2
};

/// The secret parameters of one draw of one array: a part of the declared range for all of it, and in it
/// stretches that are spread as the array, narrower, around or towards 0, with a period, sparse, or with
/// outliers. No mean, maximum, variance, share or balance of signs is that of another draw. A few ways for
/// one array, in changing order: with many stretches of all kinds the means of arrays would be alike again.
class Stretches {
 public:
  Stretches(const DeclaredRange& declared, std::size_t count, Rng& rng);

  /// The next one; its count is 0 after the last.
  [[nodiscard]] const Stretch& next(Rng& rng);

  /// What the array as a whole is drawn from.
  [[nodiscard]] const RankRange& whole() const noexcept { return whole_; }

 private:
  void make(Stretch& stretch, Rng& rng) const;

  static constexpr std::size_t kinds = 8;
  DeclaredRange declared_;
  RankRange whole_;
  std::size_t left_, length_ = 0, first_ = 0;
  std::uint32_t made_ = 0;  ///< which of the ways, a bit for each
  std::array<Stretch, kinds> ways_;
};

/// A part of the declared range for what is drawn as a whole, such as sorted arrays.
[[nodiscard]] RankRange drawn_ranks(const DeclaredRange& declared, Rng& rng);

/// The argument with such a part of its range.
[[nodiscard]] Argument narrowed(Argument argument, const RankRange& ranks);

}  // namespace kernelsearch::detail
