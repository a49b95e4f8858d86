// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "evaluator/gpu/protocol.hpp"
#include "judge/arena.hpp"
#include "kernelsearch/evaluator/portable_artifact.hpp"
#include "kernelsearch/problem/inputs.hpp"
#include "kernelsearch/problem/kernel.hpp"
#include "kernelsearch/problem/problem.hpp"

namespace kernelsearch::detail::gpu {

/// One call of a problem's kernels for one shape and configuration, ready to be sent to a worker. Its
/// bindings are one buffer for each argument, in their order; those that are not arrays go unused.
struct CallPlan {
  ShapePlan arguments;
  ProgramPlan program;
};

/// The call of a candidate whose code is loaded as `module` with the kernels `names` (launched_kernels).
/// `launches`: what a build command says of launching each of them, if anything, which comes first.
/// Where an extent is not a whole number >= 1, or another expression makes no sense, `reason` says so and the
/// call is to be rejected.
[[nodiscard]] CallPlan plan_call(const Problem& problem, const Candidate& candidate, std::size_t shape,
                                 ModuleId module, const std::vector<std::string>& names, std::string& reason,
                                 const std::vector<BuiltLaunch>& launches = {});

/// The call of the reference, whose floating arrays and scalars are f64 if `wide`, else f32.
[[nodiscard]] CallPlan plan_reference(const Problem& problem, std::size_t shape, ModuleId module, bool wide);

/// Whether the argument belongs to the reference's signature.
[[nodiscard]] bool is_reference_argument(const Argument& argument) noexcept;

/// Fills the buffer of an input with contents drawn from `seed`.
[[nodiscard]] FillArray fill_action(const Argument& argument, const PlannedArgument& planned, BufferId buffer,
                                    std::uint64_t seed, InputFlavour flavour, bool magnitudes);

[[nodiscard]] inline std::uint64_t bytes_of(const PlannedArgument& argument) noexcept {
  return argument.count * argument.element_bytes();
}

}  // namespace kernelsearch::detail::gpu
