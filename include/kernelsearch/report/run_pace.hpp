// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <optional>

namespace kernelsearch {

/// What a run may spend, and what its earlier parts have spent where it was resumed.
struct RunPace {
  std::optional<std::uint64_t> trials = {};  ///< expected
  std::optional<double> seconds = {};        ///< expected wall time; the nearer of the two ends counts
  std::uint64_t trials_before = 0;
  double seconds_before = 0.0;
};

/// How far a run is.
struct RunStanding {
  std::uint64_t trials = 0;  ///< all parts together, like the seconds
  double seconds = 0.0;
  std::optional<double> filled;  ///< the share of its budget that is spent, from 0; empty: it has none
  std::optional<double> left;    ///< seconds until its budget is spent, as far as that can be told
};

/// What `trials` and `seconds` of this part come to. The time that trials will take is told from the pace of
/// this part alone: an earlier one may have run elsewhere. The status line of `tune` and the page of `serve`
/// both show these figures.
[[nodiscard]] RunStanding standing_of(const RunPace& pace, std::uint64_t trials, double seconds) noexcept;

}  // namespace kernelsearch
