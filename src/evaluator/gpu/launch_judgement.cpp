// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "evaluator/gpu/launch_judgement.hpp"

#include <algorithm>

#include "kernelsearch/evaluator/sampling.hpp"

namespace kernelsearch::detail::gpu {
namespace {

// By how much a batch may be longer than its events say before the difference is charged: part of it, and
// seconds of each call and batch. Honest host code works while the device flushes its cache, some 60 us.
constexpr double outside_share = 0.25, outside_call = 5e-6, outside_batch = 100e-6;
// By how much what is around the calls may differ from when it was calibrated, without and with load.
constexpr double empty_doubt = 0.05, empty_doubt_under_load = 0.5;
// It is a lie where the clock outside, less what was waited for a core, says that many times as much, and so
// many seconds of each call more. What was waited for is not an excuse from being charged: a device computes
// meanwhile, and with most of a batch spent waiting any claim would agree with what is left.
// Where the system does not say how long the process waited for a core, load would have to slow five batches
// down by the larger factor.
constexpr double beyond_load = 4, beyond_unknown_load = 16, beyond_noise = 30e-6;

constexpr std::size_t calm = 5;  ///< values of a time that must agree where nothing disturbs it

bool alike(double least, double larger) noexcept {
  constexpr double share = 0.1, absolute = 20e-6;
  return larger - least <= std::max(share * least, absolute);
}

}  // namespace

double unexplained_seconds(const LaunchTimes& times) noexcept {
  return times.outside + (times.disturbed ? empty_doubt_under_load : -empty_doubt) * times.empty;
}

double beyond_margin(const LaunchTimes& times) noexcept {
  return unexplained_seconds(times) - (1 + outside_share) * times.inside -
         outside_call * static_cast<double>(times.calls) - outside_batch;
}

LaunchJudgement judge_launches(const LaunchTimes& times) noexcept {
  if (beyond_margin(times) <= 0) return LaunchJudgement::agrees;
  const double factor = times.waited < 0 ? beyond_unknown_load : beyond_load;
  const bool lies = times.outside - std::max(0.0, times.waited) - empty_doubt * times.empty >
                    factor * times.inside + beyond_noise * static_cast<double>(times.calls) +
                        empty_doubt_under_load * times.empty;
  return lies && !times.shared ? LaunchJudgement::cheated : LaunchJudgement::charged;
}

void UndisturbedTime::add(double seconds) {
  ascending_.insert(std::upper_bound(ascending_.begin(), ascending_.end(), seconds), seconds);
}

bool UndisturbedTime::is_disturbed() const noexcept {
  return ascending_.size() > calm;
}

bool UndisturbedTime::is_settled() const noexcept {
  constexpr std::size_t disturbed = 20;
  const auto first_agree = [&](std::size_t count) { return alike(ascending_[0], ascending_[count - 1]); };
  return (ascending_.size() >= calm && first_agree(3)) || (ascending_.size() >= disturbed && first_agree(2));
}

bool UndisturbedTime::agrees(const UndisturbedTime& other) const noexcept {
  const auto [least, larger] = std::minmax({seconds(), other.seconds()});
  return alike(least, larger);
}

double UndisturbedTime::seconds() const noexcept {
  return ascending_.empty() ? 0.0 : ascending_.front();
}

bool charge_outside(std::vector<double>& seconds, const std::vector<double>& outside, double launching) {
  if (outside.empty() || outside.size() != seconds.size()) return false;
  if (median(outside) <= (1 + outside_share) * median(seconds) + launching) return false;
  seconds = outside;
  return true;
}

double least_seconds(const GpuDevice& device, const LeastWork& work, CacheMode cache) noexcept {
  // Clocks are what the device says, and counts are the problem's.
  constexpr double margin = 0.9;
  // More than any device's second-level cache is faster than its memory; the first level begins a call empty.
  constexpr double cache_over_memory = 8;
  double least = device.peak_operations() > 0 ? work.operations / device.peak_operations() : 0.0;
  if (device.peak_bandwidth() > 0) {
    // What was written may stay in the cache, and in warm mode so may what is read.
    const double l2 = static_cast<double>(device.l2),
                 from_memory = cache == CacheMode::cold ? work.bytes - std::min(l2, work.outputs) : 0.0;
    least = std::max({least, from_memory / device.peak_bandwidth(),
                      work.bytes / (cache_over_memory * device.peak_bandwidth())});
  }
  return margin * least;
}

}  // namespace kernelsearch::detail::gpu
