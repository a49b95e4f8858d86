// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>

#include "evaluator/gpu/call_plan.hpp"

namespace kernelsearch::detail::gpu {

inline constexpr std::size_t most_slots = 32;
inline constexpr ModuleId candidate_module{1}, other_module{2};
/// How many times as long as the best one takes is slower beyond doubt, whatever the noise.
inline constexpr double surely_slower = 1.5;

/// How closely the timed calls of a candidate are looked at.
enum class Depth : std::uint8_t {
  glance,    ///< a few samples of what is surely slower than the best
  search,    ///< a candidate like any other
  finalist,  ///< what may be the winner
};

/// Bytes of shared memory that the outputs of one call need.
[[nodiscard]] std::uint64_t output_bytes(const ShapePlan& plan);

/// Bytes of device memory that the arrays of one call need, workspaces apart.
[[nodiscard]] std::uint64_t slot_bytes(const ShapePlan& plan);

}  // namespace kernelsearch::detail::gpu
