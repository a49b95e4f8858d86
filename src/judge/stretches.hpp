// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "kernelsearch/core/rng.hpp"
#include "kernelsearch/problem/argument.hpp"

namespace kernelsearch::detail {

/// What may be varied of an array's distribution, in ranks: 0 is the least that is declared, 1 the greatest.
struct DeclaredRange {
  bool varies = false;         ///< false: drawn as declared, by the problem's word or by what it means
  std::optional<double> zero;  ///< the rank of 0 where 0 may be drawn
};
/// For an argument with its numbers for a shape.
[[nodiscard]] DeclaredRange declared_range(const Argument& argument);

/// A part of the ranks.
struct RankRange {
  float from = 0, to = 1;
};

/// Elements that follow one another and have parameters in common: element i has ranks of `lanes[i % 8]`.
struct Stretch {
  static constexpr std::size_t lanes = 8;
  std::array<RankRange, lanes> ranks{};
  bool periodic = false;       ///< the lanes differ
  std::uint32_t zeros = 0;     ///< of 256 elements so many, at random places, are 0
  std::size_t count = 0;       ///< elements
  std::uint32_t outliers = 0;  ///< elements that lie near the ends of the array's range, at most 2
};

/// The secret parameters that draws of one array choose from: parts of the declared range for all of it, each
/// with eight ways of stretches in it: as the array, narrower, around or towards 0, with a period, or sparse.
/// They are drawn once, as drawing them takes as long as some dozens of elements.
class Spread {
 public:
  static constexpr std::size_t ways = 8;
  struct Parameters {
    RankRange whole;
    std::array<Stretch, ways> stretches;
  };

  Spread() = default;
  Spread(const DeclaredRange& declared, Rng& rng);

  [[nodiscard]] bool varies() const noexcept { return !parameters_.empty(); }
  [[nodiscard]] const Parameters& some(Rng& rng) const { return parameters_[rng() % parameters_.size()]; }

 private:
  std::vector<Parameters> parameters_;
};

/// The stretches of one draw of an array, from some of its parameters, with outliers: no mean, maximum,
/// variance, share or balance of signs is that of another draw.
class Stretches {
 public:
  Stretches(const Spread& spread, std::size_t count, Rng& rng);

  /// The next one; its count is 0 after the last.
  [[nodiscard]] const Stretch& next(Rng& rng);

  /// What the array as a whole is drawn from.
  [[nodiscard]] RankRange whole() const noexcept {
    return parameters_ != nullptr ? parameters_->whole : RankRange{};
  }

 private:
  const Spread::Parameters* parameters_ = nullptr;
  std::size_t left_, length_, first_ = 0;
  Stretch stretch_;
};

/// A part of the declared range for what is drawn as a whole, such as sorted arrays.
[[nodiscard]] RankRange drawn_ranks(const DeclaredRange& declared, Rng& rng);

/// The argument with such a part of its range.
[[nodiscard]] Argument narrowed(Argument argument, const RankRange& ranks);

}  // namespace kernelsearch::detail
