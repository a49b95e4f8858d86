// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kernelsearch/core/objectives.hpp"
#include "kernelsearch/space/config.hpp"
#include "kernelsearch/space/space.hpp"

namespace kernelsearch {

/// What an earlier run found at one configuration of the space that is searched now.
struct EarlierOutcome {
  Config config;
  double objective = std::numeric_limits<double>::infinity();  ///< lower is better; infinity: it failed
};

/// A run of the same space on another device, shape or version: what a policy may learn from. Its objectives
/// need not be comparable with those of the present run, nor with those of other earlier runs.
struct EarlierRun {
  std::string source;  ///< for reports: a file, or a store's run
  std::vector<EarlierOutcome> outcomes;
};

/// Runs with fewer right outcomes say nothing of a space, and are not learned from.
inline constexpr std::size_t fewest_earlier = 8;

/// What a search took over from one earlier run.
struct LearnedFrom {
  std::string source;
  std::size_t outcomes = 0;  ///< that the run had in this space
  double agreement = 0;      ///< rank correlation of its times with those seen now, -1 to 1; 0: too few yet
};

/// All that is known when a policy is made by name.
struct PolicySetup {
  Space space;
  std::uint64_t seed = 0;
  std::optional<std::uint64_t> budget = {};  ///< trials, where the budget is a number of trials
  std::vector<EarlierRun> earlier = {};
  /// Whether the space's default is someone's choice and worth measuring first, rather than just the first
  /// values of the lists or, in comparisons, a draw.
  bool try_default = true;
  Objectives objectives = {};  ///< for policies that know several; the others are told their scalar
};

}  // namespace kernelsearch
