// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernelsearch/compare/scores.hpp"

namespace kernelsearch {

struct PairedTestOptions {
  std::uint64_t cap = 1100;         ///< as of the scores
  std::size_t permutations = 9999;  ///< so that no p is below 1 / (1 + permutations)
  std::size_t bootstrap = 1000;     ///< resamplings for the intervals
  std::uint64_t seed = 1;
};

/// How much better one policy is than another by one area.
struct AreaDifference {
  double mean = 0.0;        ///< over spaces of the means over pairs; positive: better than the other
  Interval interval;        ///< 95 %, over pairs
  double p = 1.0;           ///< two-sided
  double adjusted_p = 1.0;  ///< after Holm, for as many tests as there are policies
};

/// How a policy compares with the one that all are tested against.
struct PairedDifference {
  std::string strategy;
  std::size_t pairs = 0;  ///< repeats that both have, over all spaces; 0: nothing could be tested
  std::array<AreaDifference, area_names.size()> areas{};  ///< in the order of `area_names`
};

/// Tests every other policy of the traces against `against`, by the areas of single repeats (`area_scores`),
/// paired by space and repeat: repeats of the same number have the same seed. Sign-flip permutation test of
/// the mean difference (Fisher, 1935), Holm's correction over the policies, percentile bootstrap over the
/// pairs within each space for the interval.
[[nodiscard]] std::vector<PairedDifference> paired_differences(std::span<const Landscape> landscapes,
                                                               std::span<const Trace> traces,
                                                               std::string_view against,
                                                               const PairedTestOptions& options = {});

}  // namespace kernelsearch
