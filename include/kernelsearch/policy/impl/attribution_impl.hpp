// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernelsearch/policy/attribution.hpp"

namespace kernelsearch {
namespace detail {

/// Whether the candidate was started: only then its failure is about what it computes.
inline bool came_to_run(Verdict verdict) noexcept {
  return verdict == Verdict::ok || verdict == Verdict::wrong_result || verdict == Verdict::crashed ||
         verdict == Verdict::timed_out || verdict == Verdict::launch_failed;
}

inline bool is_time(double seconds) noexcept {
  return std::isfinite(seconds) && seconds > 0;
}

/// The interval of the time, or the time alone where there is none around it.
inline Interval times_of(const Measurement& measurement) noexcept {
  const Interval& given = measurement.interval;
  if (is_time(given.low) && is_time(given.high) && given.low <= measurement.seconds &&
      measurement.seconds <= given.high)
    return given;
  return {measurement.seconds, measurement.seconds};
}

}  // namespace detail

KERNELSEARCH_INLINE Attribution attribution_of(const Outcome& champion, const Outcome& ablated) {
  Attribution result;
  const Evaluation& with = champion.evaluation;
  const Evaluation& without = ablated.evaluation;
  if (!champion.ok() || !detail::came_to_run(without.verdict)) return result;
  if (!ablated.ok()) {
    result.known = result.essential = true;
    return result;
  }
  const auto ratio = without.features.find("times_parent");
  const auto low = without.features.find("times_parent.low");
  const auto high = without.features.find("times_parent.high");
  if (ratio && low && high && ablated.parents == std::vector<TrialId>{champion.id}) {
    result.known = result.paired = true;
    result.effect = *ratio - 1;
    result.interval = {*low - 1, *high - 1};
    return result;
  }
  if (!detail::is_time(with.measurement.seconds) || !detail::is_time(without.measurement.seconds))
    return result;
  // The extremes of both: what the machine did between the two moments is in neither interval.
  const Interval ours = detail::times_of(with.measurement), theirs = detail::times_of(without.measurement);
  result.known = true;
  result.effect = without.measurement.seconds / with.measurement.seconds - 1;
  result.interval = {theirs.low / ours.high - 1, theirs.high / ours.low - 1};
  return result;
}

KERNELSEARCH_INLINE Attribution interaction_of(const Attribution& one, const Attribution& other,
                                               const Attribution& both) {
  Attribution result;
  const auto numbered = [](const Attribution& a) {
    return a.known && !a.essential && a.effect > -1 && a.interval.low > -1;
  };
  if (!numbered(one) || !numbered(other) || !numbered(both)) return result;
  result.known = true;
  result.paired = one.paired && other.paired && both.paired;
  const double middle = std::log((1 + both.effect) / ((1 + one.effect) * (1 + other.effect)));
  // Independent errors add as squares; the champion's own, which all three share, thus counts too often,
  // never too seldom.
  double below = 0, above = 0;
  const auto add = [](double& sum, double from, double to) {
    const double distance = std::log((1 + to) / (1 + from));
    sum += distance * distance;
  };
  add(below, both.interval.low, both.effect);
  add(below, one.effect, one.interval.high);
  add(below, other.effect, other.interval.high);
  add(above, both.effect, both.interval.high);
  add(above, one.interval.low, one.effect);
  add(above, other.interval.low, other.effect);
  result.effect = std::expm1(middle);
  result.interval = {std::expm1(middle - std::sqrt(below)), std::expm1(middle + std::sqrt(above))};
  return result;
}

KERNELSEARCH_INLINE double noise_threshold(const Measurement& measurement, double least) {
  if (!detail::is_time(measurement.seconds)) return least;
  const Interval interval = detail::times_of(measurement);
  double noise = (interval.high - interval.low) / 2 / measurement.seconds;
  if (!(noise > 0)) noise = measurement.spread;
  return std::isfinite(noise) ? std::max(least, noise) : least;
}

KERNELSEARCH_INLINE double noise_threshold(const Attribution& attribution, const Measurement& champion,
                                           double least) {
  return attribution.paired ? least : noise_threshold(champion, least);
}

KERNELSEARCH_INLINE Contribution contributes(const Attribution& attribution, double noise) {
  if (!attribution.known) return Contribution::unknown;
  if (attribution.essential) return Contribution::yes;
  if (attribution.effect > noise)
    return attribution.interval.low > 0 ? Contribution::yes : Contribution::unknown;
  return attribution.interval.high <= 2 * noise ? Contribution::no : Contribution::unknown;
}

}  // namespace kernelsearch
