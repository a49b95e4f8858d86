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
    return static_cast<std::size_t>(0.5 * static_cast<double>(n) - 0.98 * std::sqrt(static_cast<double>(n)) -
                                    1);
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

KERNELSEARCH_INLINE std::optional<SamplingEnd> sampling_end(std::span<const double> samples,
                                                            double elapsed_seconds,
                                                            const SamplingOptions& options) {
  if (samples.size() >= std::max<std::size_t>(options.min_samples, 6)) {
    const Interval interval = median_interval(samples);
    if (interval.high - interval.low <= 2 * options.precision * median(samples))
      return SamplingEnd::converged;
  }
  if (samples.size() >= options.max_samples || elapsed_seconds >= options.budget_seconds)
    return SamplingEnd::budget;
  return std::nullopt;
}

KERNELSEARCH_INLINE void summarize(ShapeMeasurement& shape) {
  shape.median = median(shape.samples);
  shape.spread = relative_spread(shape.samples);
  shape.interval = median_interval(shape.samples);
}

namespace detail {

/// How much wider than the bootstrap the 95 % interval of this many independent groups is: Student's quantile
/// over the normal one, and the variance that is lost by resampling (Davison and Hinkley, Bootstrap Methods
/// and their Application, section 2.6).
inline double widening_of_few(std::size_t groups) {
  constexpr double student[] = {12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228};
  const std::size_t freedom = groups - 1;
  const double quantile =
      freedom <= std::size(student) ? student[freedom - 1] : 1.96 + 2.4 / static_cast<double>(freedom);
  return quantile / 1.96 * std::sqrt(static_cast<double>(groups) / static_cast<double>(freedom));
}

}  // namespace detail

KERNELSEARCH_INLINE Speedup paired_speedup(const PairedTimes& pairs) {
  return combined_speedup({&pairs, 1}, Combine::weighted_sum);
}

KERNELSEARCH_INLINE void combine_shapes(Measurement& measurement, Combine combine) {
  double weights = 0, value = 0, low = 0, high = 0, spread = 0;
  const bool sum = combine == Combine::weighted_sum;
  for (const ShapeMeasurement& shape : measurement.shapes) {
    if (shape.weight <= 0 || shape.samples.empty()) continue;
    const auto term = [sum](double seconds) { return sum ? seconds : std::log(seconds); };
    weights += shape.weight;
    value += shape.weight * term(shape.median);
    low += shape.weight * term(shape.interval.low);
    high += shape.weight * term(shape.interval.high);
    spread += shape.weight * shape.spread;
  }
  if (weights <= 0) return;
  const auto result = [&](double total) { return sum ? total : std::exp(total / weights); };
  measurement.seconds = result(value);
  measurement.interval = {result(low), result(high)};
  measurement.spread = spread / weights;
}

KERNELSEARCH_INLINE Speedup combined_speedup(std::span<const PairedTimes> shapes, Combine combine) {
  struct Ratios {
    double weight;
    double reference;  // median time, which is how much the shape counts in a sum
    std::vector<double> values;
    std::vector<std::size_t> rounds;  // where each begins, and the end
  };
  std::vector<Ratios> all;
  Speedup speedup;
  std::size_t fewest = static_cast<std::size_t>(-1);
  for (const PairedTimes& pairs : shapes) {
    Ratios ratios{pairs.weight, median(pairs.reference), {}, {0}};
    for (std::size_t i = 0; i < std::min(pairs.reference.size(), pairs.candidate.size()); ++i) {
      if (std::find(pairs.rounds.begin(), pairs.rounds.end(), i) != pairs.rounds.end() &&
          ratios.values.size() > ratios.rounds.back())
        ratios.rounds.push_back(ratios.values.size());
      if (pairs.candidate[i] > 0) ratios.values.push_back(pairs.reference[i] / pairs.candidate[i]);
    }
    ratios.rounds.push_back(ratios.values.size());
    if (ratios.rounds.size() > 2 && ratios.rounds.end()[-2] == ratios.values.size()) ratios.rounds.pop_back();
    if (ratios.values.empty() || ratios.weight <= 0) continue;
    fewest = std::min(fewest, ratios.values.size());
    speedup.pairs += static_cast<std::uint32_t>(ratios.values.size());
    all.push_back(std::move(ratios));
  }
  if (all.empty()) return speedup;
  // `pick(i)` is the ratio of shape i; the candidate's time is the reference's divided by it, so that times
  // taken at different moments are never divided by each other
  const auto combined = [&](auto&& pick) {
    double weights = 0, reference = 0, candidate = 0, logs = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const double ratio = pick(i);
      weights += all[i].weight;
      reference += all[i].weight * all[i].reference;
      candidate += all[i].weight * all[i].reference / ratio;
      logs += all[i].weight * std::log(ratio);
    }
    return combine == Combine::weighted_sum ? reference / candidate : std::exp(logs / weights);
  };
  speedup.ratio = combined([&](std::size_t i) { return median(all[i].values); });
  if (fewest < 6) {
    speedup.interval = {combined([&](std::size_t i) {
                          return *std::min_element(all[i].values.begin(), all[i].values.end());
                        }),
                        combined([&](std::size_t i) {
                          return *std::max_element(all[i].values.begin(), all[i].values.end());
                        })};
    return speedup;
  }
  constexpr std::size_t resamplings = 2000;
  Rng rng = Rng::stream(0, "bootstrap");  // fixed: the same samples always give the same interval
  std::vector<double> results(resamplings), drawn;
  for (double& result : results)
    result = combined([&](std::size_t i) {
      const auto& [weight, reference, values, rounds] = all[i];
      drawn.clear();
      for (std::size_t r = 0; r + 1 < rounds.size(); ++r) {
        const std::size_t from =
            rounds.size() == 2 ? 0 : static_cast<std::size_t>(rng.below(rounds.size() - 1));
        const std::size_t length = rounds[from + 1] - rounds[from];
        for (std::size_t k = 0; k < length; ++k) drawn.push_back(values[rounds[from] + rng.below(length)]);
      }
      return median(drawn);
    });
  std::sort(results.begin(), results.end());
  speedup.interval = {results[resamplings / 40], results[resamplings - 1 - resamplings / 40]};
  std::size_t fewest_rounds = static_cast<std::size_t>(-1);
  for (const Ratios& ratios : all) fewest_rounds = std::min(fewest_rounds, ratios.rounds.size() - 1);
  if (fewest_rounds < 2) return speedup;
  // Resampling few rounds shows less than they differ by.
  const double widening = detail::widening_of_few(fewest_rounds);
  const auto widened = [&](double end) { return speedup.ratio * std::pow(end / speedup.ratio, widening); };
  speedup.interval = {widened(speedup.interval.low), widened(speedup.interval.high)};
  return speedup;
}

}  // namespace kernelsearch
