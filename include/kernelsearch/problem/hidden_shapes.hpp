// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "kernelsearch/core/expression.hpp"
#include "kernelsearch/core/rng.hpp"
#include "kernelsearch/problem/kernel.hpp"
#include "kernelsearch/problem/shape.hpp"

namespace kernelsearch {

struct Problem;

/// The values that one shape variable may have in hidden shapes.
struct SizeRange {
  std::string name;                ///< of the shape variable
  std::int64_t low = 1, high = 1;  ///< both may be drawn
  std::int64_t multiple_of = 1;
};

/// Shapes that no candidate can know: drawn anew for each evaluation, to be right on and not to be fast on.
/// Variables without a range have the values of one of the listed shapes.
struct HiddenShapes {
  std::size_t count = 3;  ///< of each evaluation
  std::vector<SizeRange> ranges;
  std::vector<Expression> where;  ///< over shape variables; all of them must hold
};

/// What keeps a hidden shape about as cheap to check as the listed ones: those that are larger are not drawn.
struct HiddenShapeLimits {
  double bytes = 0;       ///< of all arrays: as many as the largest listed shape has, at least 4 MiB
  double operations = 0;  ///< where the problem counts them: as many as a listed shape has, at least 10^8
};
[[nodiscard]] HiddenShapeLimits hidden_shape_limits(const Problem& problem);

/// Up to `hidden_shapes->count` different shapes of weight 0, by size, that `where`, `valid` and the limits
/// accept for this candidate; fewer, or none, where a thousand tries each find no more. Values are drawn near
/// the listed shapes' and the ends of the ranges more often than elsewhere, where kernels are wrong most.
[[nodiscard]] std::vector<Shape> draw_hidden_shapes(const Problem& problem, const Candidate& candidate,
                                                    const HiddenShapeLimits& limits, Rng& rng);

}  // namespace kernelsearch
