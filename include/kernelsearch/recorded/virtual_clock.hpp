// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <vector>

#include "kernelsearch/core/outcome.hpp"

namespace kernelsearch {

/// What works at the same time in a run that is replayed.
struct VirtualClockOptions {
  /// Candidates built at a time, while one other is checked and measured. 0: nothing overlaps, as in tuners
  /// that build and measure in turn.
  std::size_t builders = 0;
  /// How many candidates may be under way at a time: the next one is proposed only when there is room, as the
  /// loop does. 0: one more than there are builders.
  std::size_t in_flight = 0;
};

/// The wall time that recorded evaluations would have taken with builders next to one measuring lane, told
/// from their phases alone. Candidates start in the order in which they are added; each is measured when it
/// is built and those before it are measured.
class VirtualClock {
 public:
  explicit VirtualClock(VirtualClockOptions options = {});

  /// The seconds, from the start of the run, at which a candidate of these phases would be known.
  double add(const PhaseSeconds& phases);

  /// When all that was added is known.
  [[nodiscard]] double seconds() const noexcept { return lane_free_; }

 private:
  std::vector<double> builder_free_;
  std::vector<double> known_;  // of the latest `in_flight` candidates, in a ring
  std::size_t next_ = 0;
  double lane_free_ = 0.0;
};

}  // namespace kernelsearch
