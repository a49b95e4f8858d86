// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "kernelsearch/core/measurement.hpp"
#include "kernelsearch/problem/lint.hpp"
#include "kernelsearch/problem/problem.hpp"

namespace kernelsearch {

/// The champion's time divided by the candidate's, measured in interleaved pairs, as a PairingEvaluator
/// gives it; a ConfigError where one of them is not right.
using ComparePair =
    std::function<std::optional<Speedup>(const Candidate& candidate, const Candidate& champion)>;

/// How `measure_tunable_effects` judges.
struct TunableEffectOptions {
  double margin = 0.03;   ///< ratios whose intervals lie within 1 / (1 + margin) and 1 + margin do not count
  double seconds = 60.0;  ///< for all tunables; those that it does not reach are left out
};

/// What was found, and what was not looked at.
struct TunableEffects {
  std::vector<LintFinding> findings;
  std::vector<std::string> left_out;
};

/// A note for each tunable that changes nothing measured: the default against every configuration that
/// differs from it in this tunable alone, each ratio's interval within the margin. `skip` holds the positions
/// of tunables that need no measuring. A configuration that is not right is an effect; so is what was too
/// noisy to tell.
[[nodiscard]] TunableEffects measure_tunable_effects(const Problem& problem, const ComparePair& compare,
                                                     const std::vector<std::size_t>& skip = {},
                                                     TunableEffectOptions options = {});

}  // namespace kernelsearch
