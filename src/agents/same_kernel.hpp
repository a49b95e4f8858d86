// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

#include "kernelsearch/agents/declared_tunables.hpp"
#include "kernelsearch/problem/kernel.hpp"

namespace kernelsearch::detail {

/// Whether declaring `a` again changes nothing of the tunable `b`.
[[nodiscard]] bool adds_nothing(const Tunable& a, const Tunable& b);

/// Whether the spaces have the same tunables, in values, defaults and conditions, and the same valid
/// configurations, even if their constraints differ. Where the constraints of both together make a space that
/// is too large to be counted (see SpaceOptions::max_states), the spaces count as different.
[[nodiscard]] bool same_space(const Space& a, const Space& b,
                              std::size_t max_states = DeclaredTunablesLimits{}.max_states);

/// Whether the kernels have the same `code_key` and `same_space`: one of them would tell nothing new of the
/// other.
[[nodiscard]] bool same_kernel(const Kernel& a, const Kernel& b);

}  // namespace kernelsearch::detail
