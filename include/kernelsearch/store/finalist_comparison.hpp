// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernelsearch/core/ids.hpp"
#include "kernelsearch/core/measurement.hpp"

namespace kernelsearch {

/// Two candidates of a run in fresh processes, timed in interleaved pairs.
struct FinalistPair {
  TrialId candidate{};
  std::optional<TrialId> opponent;  ///< empty: the problem's kernel at its default configuration
  Speedup speedup;                  ///< the opponent's time divided by the candidate's
};

/// What comparing the best few of a run with each other came to: which of them won, whatever was measured of
/// each on its own.
struct FinalistComparison {
  TrialId winner{};
  std::uint64_t trials = 0;        ///< told by then; a later one may be better
  bool winner_is_default = false;  ///< the problem's kernel at its default configuration
  std::vector<FinalistPair> pairs;
};

}  // namespace kernelsearch
