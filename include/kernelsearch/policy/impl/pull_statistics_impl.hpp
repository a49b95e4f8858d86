// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "kernelsearch/policy/pull_statistics.hpp"

namespace kernelsearch {

KERNELSEARCH_INLINE PullStatistics::PullStatistics(std::size_t arms, MoveReward reward)
    : reward_(reward), arms_(arms) {}

KERNELSEARCH_INLINE void PullStatistics::clear(std::size_t arms) {
  arms_.assign(arms, {});
  taken_ = 0;
}

}  // namespace kernelsearch
