// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
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

/// A variable that is a multiple of another one in every listed shape: its value follows.
struct SizeTie {
  std::string name, of;
  std::int64_t factor = 1;
};

/// Shapes that no candidate can know: drawn anew for each evaluation, to be right on and not to be fast on.
/// Variables without a range have the values of one of the listed shapes.
struct HiddenShapes {
  std::size_t count = 3;  ///< of each evaluation
  std::vector<SizeRange> ranges;
  std::vector<SizeTie> ties;      ///< of derived ones
  bool derived = false;           ///< see derived_hidden_shapes; the default accepts all that are drawn
  std::vector<Expression> where;  ///< over shape variables; all of them must hold
  std::string none;               ///< why sizes cannot vary; then there are no ranges and no shapes
};

/// Shapes for a problem that says nothing of hidden ones. Each variable that the size of an array names and
/// that has several values in the listed shapes varies from the least to the greatest of them, in steps of
/// their greatest common divisor. What holds between two variables in every listed shape (the one is a
/// multiple of the other, or not above it) holds in these too. A variable with one value in all shapes is a
/// constant of the problem. Nothing, and in `why_not` the reason, where nothing can be varied.
[[nodiscard]] std::optional<HiddenShapes> derived_hidden_shapes(const Problem& problem, std::string& why_not);

/// The problem with hidden shapes, its own or derived ones; without any where it wants none, and, with the
/// reason in `why_not`, where they cannot be derived.
[[nodiscard]] Problem with_hidden_shapes(const Problem& problem, std::string& why_not);

/// For people: why sizes are those listed, and what to do.
[[nodiscard]] std::string sizes_not_varied(const std::string& why);

/// What keeps a hidden shape about as cheap to check as the listed ones: those that are larger are not drawn.
/// For derived ones: twice what the smallest listed shape has, at least 1 MiB and 10^7.
struct HiddenShapeLimits {
  double bytes = 0;       ///< of all arrays: as many as the largest listed shape has, at least 4 MiB
  double operations = 0;  ///< where the problem counts them: as many as a listed shape has, at least 10^8
};
[[nodiscard]] HiddenShapeLimits hidden_shape_limits(const Problem& problem);

/// Up to `hidden_shapes->count` different shapes of weight 0, by size, that `where`, `valid` and the limits
/// accept for this candidate; fewer, or none, where a thousand tries each find no more. Values are drawn near
/// the listed shapes' and the ends of the ranges more often than elsewhere, where kernels are wrong most. If
/// possible, one shape has sizes whose remainders modulo 8 differ from those of all listed sizes.
[[nodiscard]] std::vector<Shape> draw_hidden_shapes(const Problem& problem, const Candidate& candidate,
                                                    const HiddenShapeLimits& limits, Rng& rng);

}  // namespace kernelsearch
