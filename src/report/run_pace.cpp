// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/report/run_pace.hpp"

#include <algorithm>

namespace kernelsearch {

RunStanding standing_of(const RunPace& pace, std::uint64_t trials, double seconds) noexcept {
  RunStanding now;
  now.trials = pace.trials_before + trials;
  now.seconds = pace.seconds_before + seconds;
  if (pace.trials && *pace.trials > 0) {
    now.filled = static_cast<double>(now.trials) / static_cast<double>(*pace.trials);
    if (trials > 0)
      now.left = seconds / static_cast<double>(trials) *
                 static_cast<double>(*pace.trials - std::min(now.trials, *pace.trials));
  }
  if (pace.seconds && *pace.seconds > 0.0) {
    now.filled = std::max(now.filled.value_or(0.0), now.seconds / *pace.seconds);
    const double until = std::max(0.0, *pace.seconds - now.seconds);
    now.left = now.left ? std::min(*now.left, until) : until;
  }
  return now;
}

}  // namespace kernelsearch
