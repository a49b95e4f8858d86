// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "kernelsearch/core/features.hpp"
#include "kernelsearch/core/objectives.hpp"

namespace kernelsearch::detail {

/// The shortest time over which counters of energy are believed: NVML's is renewed ten times a second or so.
inline constexpr double energy_seconds = 0.5;

/// The features `power_watts`, the mean while a candidate was measured, and `energy_joules`, that power for
/// the time of a call.
inline void set_energy(double joules, double seconds, double seconds_of_call, Features& features) {
  if (!(seconds > 0) || !(joules > 0)) return;
  features.set("power_watts", joules / seconds);
  features.set("energy_joules", joules / seconds * seconds_of_call);
}

/// Whether an objective of the problem asks for them: no counter is read otherwise.
inline bool wants_energy(const Objectives& objectives) {
  return objectives.reads({"energy_", "power_"});
}

}  // namespace kernelsearch::detail
