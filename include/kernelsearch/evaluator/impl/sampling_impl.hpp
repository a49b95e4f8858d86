// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "kernelsearch/core/rng.hpp"
#include "kernelsearch/evaluator/sampling.hpp"

namespace kernelsearch {
namespace detail {

inline double sorted_median(std::span<const double> sorted) noexcept {
  const std::size_t n = sorted.size();
  if (n == 0) return 0.0;
  return n % 2 != 0 ? sorted[n / 2] : 0.5 * (sorted[n / 2 - 1] + sorted[n / 2]);
}

inline std::vector<double> sorted_copy(std::span<const double> samples) {
  std::vector<double> sorted(samples.begin(), samples.end());
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

/// The largest r such that the (r+1)-th smallest and (r+1)-th largest of n samples enclose the median with
/// probability 95 %; nothing below n = 6.
inline std::optional<std::size_t> median_rank(std::size_t n) noexcept {
  if (n < 6) return std::nullopt;
  if (n > 1000)  // 0.5^n is about to underflow; the normal approximation is exact to a rank here
    return static_cast<std::size_t>(0.5 * static_cast<double>(n) - 0.98 * std::sqrt(static_cast<double>(n)) - 1);
  double term = std::pow(0.5, static_cast<double>(n));  // P(exactly r of n below the median)
  double below = term;
  std::size_t rank = 0;
  for (std::size_t r = 1; r < n / 2; ++r) {
    term *= static_cast<double>(n - r + 1) / static_cast<double>(r);
    below += term;
    if (below > 0.025) break;
    rank = r;
  }
  return rank;
}

}  // namespace detail

KERNELSEARCH_INLINE double median(std::span<const double> samples) {
  return detail::sorted_median(detail::sorted_copy(samples));
}

KERNELSEARCH_INLINE Interval median_interval(std::span<const double> samples) {
  if (samples.empty()) return {};
  const auto sorted = detail::sorted_copy(samples);
  const std::size_t rank = detail::median_rank(sorted.size()).value_or(0);
  return {sorted[rank], sorted[sorted.size() - 1 - rank]};
}

KERNELSEARCH_INLINE double relative_spread(std::span<const double> samples) {
  const double middle = median(samples);
  if (middle == 0.0) return 0.0;
  std::vector<double> deviations(samples.begin(), samples.end());
  for (double& value : deviations) value = std::abs(value - middle);
  return median(deviations) / middle;
}

KERNELSEARCH_INLINE std::optional<SamplingEnd> sampling_end(std::span<const double> samples, double elapsed_seconds,
                                                            const SamplingOptions& options) {
  if (samples.size() >= std::max<std::size_t>(options.min_samples, 6)) {
    const Interval interval = median_interval(samples);
    if (interval.high - interval.low <= 2 * options.precision * median(samples)) return SamplingEnd::converged;
  }
  if (samples.size() >= options.max_samples || elapsed_seconds >= options.budget_seconds) return SamplingEnd::budget;
  return std::nullopt;
}

KERNELSEARCH_INLINE void summarize(ShapeMeasurement& shape) {
  shape.median = median(shape.samples);
  shape.spread = relative_spread(shape.samples);
  shape.interval = median_interval(shape.samples);
}

KERNELSEARCH_INLINE Speedup paired_speedup(const PairedTimes& pairs) {
  const std::size_t n = std::min(pairs.reference.size(), pairs.candidate.size());
  std::vector<double> ratios;
  for (std::size_t i = 0; i < n; ++i)
    if (pairs.candidate[i] > 0) ratios.push_back(pairs.reference[i] / pairs.candidate[i]);
  Speedup speedup;
  speedup.pairs = static_cast<std::uint32_t>(ratios.size());
  if (ratios.empty()) return speedup;
  speedup.ratio = median(ratios);
  if (ratios.size() < 6) {
    const auto [low, high] = std::minmax_element(ratios.begin(), ratios.end());
    speedup.interval = {*low, *high};
    return speedup;
  }
  constexpr std::size_t resamplings = 2000;
  Rng rng = Rng::stream(0, "bootstrap");  // fixed: the same samples always give the same interval
  std::vector<double> medians(resamplings), drawn(ratios.size());
  for (double& value : medians) {
    for (double& ratio : drawn) ratio = ratios[rng.below(ratios.size())];
    value = median(drawn);
  }
  std::sort(medians.begin(), medians.end());
  speedup.interval = {medians[resamplings / 40], medians[resamplings - 1 - resamplings / 40]};
  return speedup;
}

}  // namespace kernelsearch
