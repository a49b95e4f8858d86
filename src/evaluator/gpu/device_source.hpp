// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <vector>

#include "kernelsearch/evaluator/gpu/gpu_device.hpp"
#include "kernelsearch/evaluator/gpu/gpu_options.hpp"
#include "kernelsearch/problem/kernel.hpp"
#include "kernelsearch/problem/problem.hpp"

namespace kernelsearch::detail::gpu {

/// The text that is compiled for a candidate: fixed-width types, tunables, macros and the device region.
[[nodiscard]] std::string device_source(const Candidate& candidate);

/// The text of the reference with `using real = ...`.
[[nodiscard]] std::string reference_source(const Problem& problem, const char* real);

/// The kernels that the problem's steps launch at this configuration, each once, as name expressions.
[[nodiscard]] std::vector<std::string> launched_kernels(const Problem& problem, const Candidate& candidate);

/// What every compilation is told: architecture and include folders, then `flags`.
[[nodiscard]] std::vector<std::string> compile_options(const GpuDevice& device, const GpuOptions& options,
                                                       const std::vector<std::string>& flags);

}  // namespace kernelsearch::detail::gpu
