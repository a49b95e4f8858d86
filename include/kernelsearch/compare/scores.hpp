// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernelsearch/compare/landscape.hpp"
#include "kernelsearch/compare/trace.hpp"
#include "kernelsearch/core/measurement.hpp"

namespace kernelsearch {

struct ScoreOptions {
  std::uint64_t cap = 1100;     ///< no score looks at later evaluations
  std::size_t bootstrap = 500;  ///< resamplings of the repeats for the intervals; 0: no intervals
  std::uint64_t seed = 1;       ///< of the resamplings
};

/// Ranges of evaluations over which the area between a policy and random search is averaged: up to the
/// landscape's budget or the cap; up to 20, 40, 60 whatever the budget is; up to 200, 300 or the budget.
inline constexpr std::array<std::string_view, 6> area_names{"P", "P@20", "P@40", "P@60", "P200", "P300"};

/// Evaluations after which best / best so far is looked at.
inline constexpr std::array<std::uint64_t, 5> ratio_evaluations{20, 40, 60, 100, 200};

/// 0: as random search; 1: the optimum from the first evaluation on; negative: worse than random search.
/// `interval` is the 95 % interval over repeats, where it was asked for.
struct AreaScore {
  double value = 0.0;
  std::optional<Interval> interval = {};
};

/// What both a space's score and the mean over spaces have.
struct Scores {
  std::array<AreaScore, area_names.size()> areas{};       ///< in the order of `area_names`
  std::array<double, ratio_evaluations.size()> ratios{};  ///< mean over repeats; 0 where nothing is valid yet
  double n5 = 0.0, n1 = 0.0;  ///< median evaluations to within 5 %, 1 % of the best; infinity: not reached
  double n5_reached = 0.0, n1_reached = 0.0;       ///< share of the repeats that got there
  std::optional<double> policy_ms_per_evaluation;  ///< processor time of the policy
};

/// How a policy did on one space.
struct SpaceScores : Scores {
  std::string space;
  std::size_t repeats = 0;
  std::uint64_t budget = 0;    ///< the landscape's
  std::uint64_t range = 0;     ///< evaluations that P looks at
  double median_length = 0.0;  ///< evaluations of a repeat, no more than the cap
  bool truncated = false;      ///< the runs' limit ended them inside the range
  bool stopped_early = false;  ///< the policy ended inside the range by itself
  std::uint64_t dropped_repeats = 0, dropped_unknown = 0, dropped_outside = 0;  ///< of all repeats
  std::uint64_t ended_early = 0;  ///< repeats in which the policy had no more to propose; see Trace
};

/// How a policy did: the mean over its spaces, and each of them.
struct PolicyScores : Scores {
  std::string strategy;
  std::vector<SpaceScores> spaces;  ///< in the order of the landscapes
};

/// What a policy proposed and nobody scored, over all spaces and repeats.
struct Misuse {
  std::uint64_t repeats = 0;     ///< proposed again
  std::uint64_t outside = 0;     ///< outside of the space
  std::uint64_t unrecorded = 0;  ///< inside, but not in the recording
  std::uint64_t early = 0;       ///< runs that the policy ended early
  std::uint64_t runs = 0;        ///< all of them
  [[nodiscard]] bool any() const noexcept { return repeats + outside + unrecorded + early > 0; }
};

[[nodiscard]] Misuse misuse_of(const PolicyScores& policy);

/// Scores traces; policies come in the order of their first trace. Ranks, not values, are averaged over the
/// repeats, made monotone by isotonic regression where repeats end at different evaluations, and held where
/// half of the repeats have ended. ConfigError for a trace of a space that is not among the landscapes.
[[nodiscard]] std::vector<PolicyScores> score(std::span<const Landscape> landscapes,
                                              std::span<const Trace> traces,
                                              const ScoreOptions& options = {});

/// The areas of one repeat alone, which tests of differences pair: without the mean of ranks over repeats
/// that `score` takes, so their mean is not quite P.
[[nodiscard]] std::array<double, area_names.size()> area_scores(const Landscape& landscape,
                                                                const Trace& trace,
                                                                const ScoreOptions& options = {});

}  // namespace kernelsearch
