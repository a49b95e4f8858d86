// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/recorded/virtual_clock.hpp"

#include <algorithm>

namespace kernelsearch {

VirtualClock::VirtualClock(VirtualClockOptions options)
    : builder_free_(options.builders, 0.0),
      known_(options.in_flight > 0 ? options.in_flight : options.builders + 1, 0.0) {}

double VirtualClock::add(const PhaseSeconds& phases) {
  const double run = phases.check + phases.measure;
  if (builder_free_.empty()) return lane_free_ += phases.build + run;
  // There is room once the candidate that had this place of the ring is known.
  double& known = known_[next_];
  next_ = (next_ + 1) % known_.size();
  double& builder = *std::min_element(builder_free_.begin(), builder_free_.end());
  builder = std::max(builder, known) + phases.build;
  lane_free_ = std::max(lane_free_, builder) + run;
  return known = lane_free_;
}

}  // namespace kernelsearch
