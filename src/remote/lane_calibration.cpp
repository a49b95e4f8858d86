// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Which lanes are like the first.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include "kernelsearch/core/clean_text.hpp"
#include "kernelsearch/report/format.hpp"
#include "remote/remote_lanes.hpp"

namespace kernelsearch::remote {
namespace {

bool is_power_of_two(std::size_t n) {
  return n != 0 && (n & (n - 1)) == 0;
}

}  // namespace

bool RemoteLanes::same_as_first(const Use& use, const std::stop_token& stop) {
  EvaluationContext context;
  context.stop = stop;
  const Candidate standard = problem.default_candidate();
  double best = std::numeric_limits<double>::infinity();
  for (unsigned i = 0; i < std::max(1U, options.calibrations); ++i) {
    const auto evaluation = judge_on(use, standard, context);
    if (!evaluation || stop.stop_requested()) return false;
    const bool ok = evaluation->verdict == Verdict::ok;
    if (ok) best = std::min(best, evaluation->measurement.seconds);
    std::unique_lock lock(mutex);
    if (calibration && ok && !calibration->ok) {
      // What is right somewhere is right: the first lane was the one that is broken.
      Slot& wrong = *slots[calibration->lane];
      const std::uint64_t its_worker = wrong.worker;
      calibration.reset();
      lock.unlock();
      set_aside(wrong, its_worker,
                "it fails on the default configuration, which is right on " + name_of(*use.slot));
      lock.lock();
    }
    if (!calibration) calibration = Calibration{ok, best, use.slot->index};
    const Calibration known = *calibration;
    if (ok && known.ok && known.lane == use.slot->index) calibration->seconds = std::min(known.seconds, best);
    const bool close = options.tolerance <= 0 || !ok || known.lane == use.slot->index ||
                       std::abs(best - known.seconds) <= options.tolerance * known.seconds;
    if (ok == known.ok && close) {
      use.slot->calibrated = true;
      return true;
    }
    if (i + 1 < options.calibrations && ok == known.ok) continue;  // a noisy moment
    lock.unlock();
    set_aside(*use.slot, use.worker,
              ok != known.ok
                  ? "it judges the default configuration as " + std::string(to_string(evaluation->verdict)) +
                        " (" + clean_text(evaluation->reason) + "), the first lane does not"
                  : "its time of the default configuration is " + format_seconds(best) +
                        ", the first lane's " + format_seconds(known.seconds));
    return false;
  }
  return false;
}

void RemoteLanes::took(const Use& use, double seconds, bool may_be_device) {
  std::string reason;
  {
    const std::lock_guard lock(mutex);
    Slot& slot = *use.slot;
    if (slot.worker != use.worker) return;
    ++slot.measured;
    slot.failures = may_be_device ? slot.failures + 1 : 0;
    constexpr std::size_t window = 8;
    slot.seconds.push_back(seconds);
    if (slot.seconds.size() > window) slot.seconds.pop_front();
    if (options.falls_behind <= 0 || slot.seconds.size() < window) return;
    const auto median = [](std::deque<double> values) {
      std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2),
                       values.end());
      return values[values.size() / 2];
    };
    std::deque<double> others;
    for (const auto& other : slots)
      if (other.get() != &slot && other->seconds.size() >= window) others.push_back(median(other->seconds));
    if (others.empty()) return;
    const double mine = median(slot.seconds), theirs = median(others);
    if (mine <= options.falls_behind * theirs || mine < 0.05) return;
    reason =
        "it falls behind: " + format_seconds(mine) + " a measurement, the others " + format_seconds(theirs);
  }
  set_aside(*use.slot, use.worker, reason);
}

bool RemoteLanes::is_suspicious(const Slot& slot) {
  const std::lock_guard lock(mutex);
  return is_power_of_two(slot.failures + 1);
}

}  // namespace kernelsearch::remote
