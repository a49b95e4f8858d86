// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <string_view>

#include "kernelsearch/core/features.hpp"

namespace kernelsearch {

struct Problem;

/// What methods ask of problems (docs/formats/problem.md, "Traits"); a problem may list others of its own.
inline constexpr std::array<std::string_view, 15> known_traits{
    "matmul",    "attention",    "convolution", "reduction",   "elementwise",
    "stencil",   "transpose",    "histogram",   "exponential", "fp8",
    "quantized", "multi_launch", "threads",     "tall_skinny", "low_precision"};

/// `trait.NAME`: 1 for those that the problem lists and, where it lists any, 0 for the other known ones.
/// `trait.multi_launch` and `trait.threads` are always there, since its launch steps and its threads say
/// them.
[[nodiscard]] Features trait_features(const Problem& problem);

}  // namespace kernelsearch
