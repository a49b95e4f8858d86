// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>

#include "evaluator/gpu/call_plan.hpp"

namespace kernelsearch::detail::gpu {

inline constexpr std::size_t most_slots = 64;
inline constexpr std::uint32_t candidate_module = 1, other_module = 2;
/// How many times as long as the best one takes is slower beyond doubt, whatever the noise.
inline constexpr double surely_slower = 1.5;
/// The slot whose inputs those of timed calls are made of; no candidate is ever told where it is.
inline constexpr std::size_t stage_slot = most_slots - 1;

/// Bytes of shared memory that the outputs of one call need.
[[nodiscard]] std::uint64_t output_bytes(const ShapePlan& plan);

/// Bytes of device memory that the arrays of one call need, workspaces apart.
[[nodiscard]] std::uint64_t slot_bytes(const ShapePlan& plan);

/// The number of a module's program for a shape.
[[nodiscard]] std::uint32_t program_number(std::uint32_t module, std::size_t shape);

}  // namespace kernelsearch::detail::gpu
