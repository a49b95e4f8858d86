// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "kernelsearch/optimizer/stop_rule.hpp"

namespace kernelsearch {

/// What `--budget` says: trials, seconds, or both, whichever comes first; neither: every configuration.
struct RunBudget {
  std::optional<std::uint64_t> trials;
  std::optional<double> seconds;
};

/// Reads `200`, `30s`, `5m`, `1h`, `1500ms`, several joined by commas, or `all`. ConfigError for anything
/// else.
[[nodiscard]] RunBudget parse_budget(const std::string& text);

/// The stop rules of a run as far as they were given.
struct RunLimits {
  std::optional<double> seconds;
  std::optional<double> speedup;
  std::optional<std::uint64_t> no_gain;

  [[nodiscard]] bool reached(const RunProgress& progress) const {
    return (seconds && WallTime{*seconds}.reached(progress)) ||
           (speedup && TargetSpeedup{*speedup}.reached(progress)) ||
           (no_gain && NoGain{*no_gain}.reached(progress));
  }
  [[nodiscard]] std::string describe() const;
};

}  // namespace kernelsearch
