// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kernelsearch/policy/hierarchical_ucb_options.hpp"
#include "kernelsearch/policy/policy_setup.hpp"
#include "kernelsearch/policy/space_strategies.hpp"

namespace kernelsearch {

struct MoveExamplesOptions {
  std::size_t pairs = 1000;  ///< in all, shared out between the runs (KernelBand v1: 1 000)
  std::uint64_t seed = 0;
  MoveReward reward = {};
};

/// Moves between configurations that earlier runs measured: KernelBand's prior warm-up, from real runs
/// instead of a random phase. A parent is drawn from the right configurations of a run, then a strategy, then
/// one of the configurations that the strategy leads to and that the run knows. Features are those that
/// MovesOverSpace tells. Fewer pairs come back where runs know few neighbours.
[[nodiscard]] std::vector<MoveExample> move_examples(const SpaceStrategies& strategies,
                                                     std::span<const EarlierRun> runs,
                                                     MoveExamplesOptions options = {});

}  // namespace kernelsearch

#if KERNELSEARCH_HEADER_ONLY
#  include "kernelsearch/policy/impl/move_examples_impl.hpp"
#endif
