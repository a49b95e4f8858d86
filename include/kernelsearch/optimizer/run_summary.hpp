// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "kernelsearch/core/ids.hpp"
#include "kernelsearch/core/verdict.hpp"

namespace kernelsearch {

/// How a run ended.
struct RunSummary {
  std::string reason;  ///< what ended it
  /// Told, those of a resumed record included; without what turned out not to apply and outages (`is_trial`).
  std::uint64_t trials = 0;
  std::array<std::uint64_t, verdict_count> verdicts{};  ///< what was told, by `Verdict`
  std::optional<TrialId> best;
  double seconds = 0.0;  ///< wall time
};

}  // namespace kernelsearch
