// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "kernelsearch/core/move.hpp"

namespace kernelsearch {

KERNELSEARCH_INLINE std::vector<TrialId> parents_of(const Move& move) {
  return move.parents;
}

}  // namespace kernelsearch
