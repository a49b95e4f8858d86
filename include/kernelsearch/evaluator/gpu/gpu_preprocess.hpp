// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "kernelsearch/evaluator/gpu/gpu_options.hpp"
#include "kernelsearch/problem/unused_tunables.hpp"

namespace kernelsearch {

/// What a host's g++ preprocesses the kernel of a device problem to, with the headers that its own compiler
/// would find; run-time compilers do not show that step. Empty where there is no g++.
[[nodiscard]] Preprocess gpu_preprocess(const Problem& problem, const GpuOptions& options = {});

}  // namespace kernelsearch
