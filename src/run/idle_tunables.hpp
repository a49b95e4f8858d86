// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "kernelsearch/problem/problem.hpp"

namespace kernelsearch::detail {

/// The candidate with every tunable held at its value that neither its text names nor the problem reads
/// outside of it: a kernel that a model wrote often has no use for some, and trying their values would
/// measure the same again. Names and keys of configurations stay as they are.
[[nodiscard]] Candidate without_idle_tunables(const Problem& problem, const Candidate& candidate);

}  // namespace kernelsearch::detail
