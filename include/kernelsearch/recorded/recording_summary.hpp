// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstddef>
#include <limits>
#include <optional>

#include "kernelsearch/core/verdict.hpp"
#include "kernelsearch/recorded/recording.hpp"

namespace kernelsearch {

/// What a recording holds, in figures. Times are seconds; they are infinite where nothing was right.
struct RecordingSummary {
  std::array<std::size_t, verdict_count> verdicts{};  ///< records by verdict
  std::size_t right = 0;                              ///< records with a time
  std::optional<std::size_t> best;                    ///< position among the trials
  double best_seconds = std::numeric_limits<double>::infinity();
  double median_seconds = std::numeric_limits<double>::infinity();
  /// For the times, fast to slow: 5, 25, 75 and 95 % of them are below.
  std::array<double, 4> quantiles{};
  /// How many are within 1, 5 and 10 % of the best, itself among them.
  std::array<std::size_t, 3> near_best{};
  /// Evaluations after which random search is expected to have come 95 % of the way from the median to the
  /// best (Willemsen et al., A Methodology for Comparing Auto-Tuning Optimization Algorithms, 2024).
  std::size_t budget = 0;
  double spread = 0;             ///< median over the right records of their samples' relative spread
  PhaseSeconds phases{};         ///< sums over all records
  double framework_seconds = 0;  ///< sum over all records
};

[[nodiscard]] RecordingSummary summarize_recording(const Recording& recording);

}  // namespace kernelsearch
