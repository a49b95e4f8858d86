// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>

#include "kernelsearch/policy/search_tree.hpp"

namespace kernelsearch {

/// What a move was worth, from the nodes of parent and child.
///
/// A right child of a right parent earns 1 - T(child) / T(parent), clipped to [`floor`, 1] (KernelBand v1). A
/// right child of a failed parent earns 1. A child that failed earns `failure`, unless it came further than a
/// failed parent, by which it earns the difference of their progress.
struct MoveReward {
  double failure = -1.0;  ///< KernelBand v1: -1, which dwarfs the usual gain of 0.1; v2: 0
  double floor = -1.0;    ///< KernelBand v2: 0

  [[nodiscard]] double operator()(const TreeNode& parent, const TreeNode& child) const noexcept {
    if (!child.ok()) {
      const double further = parent.ok() ? 0.0 : child.progress - parent.progress;
      return further > 0.0 ? further : failure;
    }
    if (!parent.ok() || !(parent.objective > 0.0)) return 1.0;
    return std::clamp(1.0 - child.objective / parent.objective, floor, 1.0);
  }
};

}  // namespace kernelsearch
