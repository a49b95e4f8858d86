// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "kernelsearch/core/config_macros.hpp"

namespace kernelsearch {

/// Scales each feature to [0, 1] by the least and the greatest value observed so far; later values beyond
/// them leave that interval. A feature that never varied becomes 0.
class RunningMinMax {
 public:
  explicit RunningMinMax(std::size_t features);

  /// ConfigError, as below, for a row of another length.
  void observe(std::span<const double> row);
  /// Writes the scaled row to `out`, which may be `row` itself.
  void normalise(std::span<const double> row, std::span<double> out) const;
  [[nodiscard]] std::vector<double> normalise(std::span<const double> row) const;

  [[nodiscard]] std::size_t count() const noexcept { return count_; }
  [[nodiscard]] std::span<const double> low() const noexcept { return low_; }
  [[nodiscard]] std::span<const double> high() const noexcept { return high_; }

 private:
  std::size_t count_ = 0;
  std::vector<double> low_, high_;
};

/// Scales each feature to mean 0 and standard deviation 1 over what was observed so far, by Welford's running
/// sums (1962), with the deviation of a population (divided by n). A feature that never varied becomes 0.
class RunningZScore {
 public:
  explicit RunningZScore(std::size_t features);

  /// ConfigError, as below, for a row of another length.
  void observe(std::span<const double> row);
  /// Writes the scaled row to `out`, which may be `row` itself.
  void normalise(std::span<const double> row, std::span<double> out) const;
  [[nodiscard]] std::vector<double> normalise(std::span<const double> row) const;

  [[nodiscard]] std::size_t count() const noexcept { return count_; }
  [[nodiscard]] std::span<const double> mean() const noexcept { return mean_; }
  [[nodiscard]] double deviation(std::size_t feature) const;

 private:
  std::size_t count_ = 0;
  std::vector<double> mean_, squares_;
};

}  // namespace kernelsearch

#if KERNELSEARCH_HEADER_ONLY
#  include "kernelsearch/model/impl/normaliser_impl.hpp"
#endif
