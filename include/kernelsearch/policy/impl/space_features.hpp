// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "kernelsearch/model/gaussian_process.hpp"
#include "kernelsearch/space/config.hpp"
#include "kernelsearch/space/space.hpp"

namespace kernelsearch::detail {

/// Configurations as points for a Gaussian process, every feature in [0, 1], from the values alone. Only
/// tunables with more than one usable value count. Each has
///
/// * a base feature: numbers on a linear scale, or on a logarithmic one where the largest is at least three
///   times the smallest; names and orders as equal or different;
/// * where its integers are positive, at least four and not all powers of two, its alignment: the number of
///   trailing zero bits. Warps, sectors and vectors are powers of two, so 32, 64 and 128 behave alike and 48
///   does not, which no smooth function of the value can say;
/// * where it is a short list of integers that begins at zero, also equal or different: such lists are often
///   names in disguise.
class SpaceFeatures {
 public:
  explicit SpaceFeatures(const Space& space);

  [[nodiscard]] std::size_t size() const noexcept { return length_of_.size(); }
  /// Writes the size() features of a configuration.
  void write(const Config& config, std::span<float> out) const;

  /// The length scale of each feature and their priors.
  [[nodiscard]] const std::vector<std::size_t>& length_of() const noexcept { return length_of_; }
  [[nodiscard]] const std::vector<LengthPrior>& lengths() const noexcept { return lengths_; }

  /// One coordinate in [0, 1] for each tunable that counts, to spread first points by.
  void place(const Config& config, std::span<double> out) const;
  [[nodiscard]] std::size_t places() const noexcept { return columns_.size(); }
  /// Mean alignment in [0, 1] over the tunables that have one; 0 where none has.
  [[nodiscard]] double alignment(const Config& config) const;

 private:
  struct Column {
    std::size_t tunable = 0;
    std::size_t width = 0;            ///< features of each value
    std::vector<float> features;      ///< value after value
    std::vector<double> place;        ///< by value
    std::vector<double> alignment{};  ///< by value; empty: it has none
  };
  void add_different(Column& column, std::size_t values, LengthPrior prior);
  [[nodiscard]] Column make_column(const Space& space, std::size_t tunable);

  std::vector<Column> columns_;
  std::vector<std::size_t> length_of_;
  std::vector<LengthPrior> lengths_;
};

}  // namespace kernelsearch::detail

#if KERNELSEARCH_HEADER_ONLY
#  include "kernelsearch/policy/impl/space_features_impl.hpp"
#endif
