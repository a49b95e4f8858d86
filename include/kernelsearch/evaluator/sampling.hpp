// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "kernelsearch/core/config_macros.hpp"
#include "kernelsearch/core/measurement.hpp"

namespace kernelsearch {

/// When to stop taking samples of one shape.
struct SamplingOptions {
  double precision = 0.01;       ///< half width of the median's 95 % interval, relative to the median
  std::size_t min_samples = 10;  ///< fewer are never called converged
  std::size_t max_samples = 1000;
  double budget_seconds = 0.25;  ///< wall time for one shape, everything between the calls included
  double slower_margin = 0.05;   ///< surely slower: the interval lies above incumbent * (1 + margin)
};

/// The median; the mean of the middle two where their number is even, 0 of nothing.
[[nodiscard]] double median(std::span<const double> samples);

/// A 95 % confidence interval of the median that assumes nothing of the distribution: the order statistics
/// whose binomial coverage is at least 95 % (David and Nagaraja, Order Statistics, section 7.1). With fewer
/// than 6 samples no such pair exists and the whole range is given.
[[nodiscard]] Interval median_interval(std::span<const double> samples);

/// Median absolute deviation divided by the median; 0 of nothing.
[[nodiscard]] double relative_spread(std::span<const double> samples);

/// Why sampling should end now, or nothing while it should go on.
[[nodiscard]] std::optional<SamplingEnd> sampling_end(std::span<const double> samples, double elapsed_seconds,
                                                      const SamplingOptions& options);

/// Sets median, spread and interval from the samples.
void summarize(ShapeMeasurement& shape);

/// Times of one shape taken in interleaved pairs: `reference[i]` and `candidate[i]` next to each other.
struct PairedTimes {
  double weight = 1.0;
  std::vector<double> reference;
  std::vector<double> candidate;
  /// Where each round of fresh processes begins; empty: there was one. With several the bootstrap draws
  /// rounds first, then pairs of each, so that what differs between processes is in the interval (Davison and
  /// Hinkley, Bootstrap Methods and their Application, section 3.8).
  std::vector<std::size_t> rounds{};
};

/// How much faster the candidate is: the median of the pairs' ratios with its bootstrap 95 % interval
/// (percentiles of 2000 resamplings of the pairs; with fewer than 6 pairs the whole range of the ratios).
[[nodiscard]] Speedup paired_speedup(const PairedTimes& pairs);

/// How the times of several shapes become one: the weighted sum, or the weighted geometric mean.
enum class Combine : std::uint8_t { weighted_sum, geometric_mean };

/// Fills `seconds`, `spread` and `interval` of the measurement from its shapes; those of weight 0 do not
/// count.
void combine_shapes(Measurement& measurement, Combine combine);

/// The speedup over all shapes: total reference time by total candidate time, or the geometric mean of the
/// shapes' ratios, with the bootstrap interval of resampling the pairs of every shape.
[[nodiscard]] Speedup combined_speedup(std::span<const PairedTimes> shapes, Combine combine);

}  // namespace kernelsearch

#if KERNELSEARCH_HEADER_ONLY
#  include "kernelsearch/evaluator/impl/sampling_impl.hpp"
#endif
