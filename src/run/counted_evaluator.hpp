// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <functional>
#include <string>

#include "kernelsearch/evaluator/any_evaluator.hpp"
#include "kernelsearch/evaluator/gpu/gpu_options.hpp"
#include "kernelsearch/problem/problem.hpp"
#include "message_sink.hpp"

namespace kernelsearch::detail {

/// Adds the counters of Nsight Compute to what the evaluator observes of right kernels. Where they cannot be
/// had (no ncu, no permission, no CUDA) it says why once, and the evaluator goes on without.
/// `counted` is whether it begins with them.
[[nodiscard]] AnyEvaluator with_counters(AnyEvaluator evaluator, const GpuOptions& gpu, bool& counted,
                                         MessageTeller say);

}  // namespace kernelsearch::detail
