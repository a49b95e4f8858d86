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

/// The same of a problem's candidate: compilers report lines of regions that are still as the problem's files
/// have them under the files' names, and structs must be laid out as the problem says.
[[nodiscard]] std::string device_source(const Problem& problem, const Candidate& candidate);

/// A region of the candidate's code under the name of the problem's file, where it still is what that holds.
[[nodiscard]] std::string named_region(const Problem& problem, const Candidate& candidate,
                                       KernelRegion which);

/// The text of the reference with `using real = ...`.
[[nodiscard]] std::string reference_source(const Problem& problem, const char* real);

/// The kernels that the problem's steps launch at this configuration, each once, as name expressions.
[[nodiscard]] std::vector<std::string> launched_kernels(const Problem& problem, const Candidate& candidate);

/// What is compiled for: `GpuOptions::architecture`, else of CUDA the device's, from Hopper on with its own
/// instructions (`sm_90a`); empty where only the driver knows.
[[nodiscard]] std::string architecture_of(const GpuDevice& device, const GpuOptions& options);

/// What every compilation is told: architecture and include folders, then `flags`.
[[nodiscard]] std::vector<std::string> compile_options(const GpuDevice& device, const GpuOptions& options,
                                                       const std::vector<std::string>& flags);

/// The same for code of a problem, which also finds what of the problem's folder it may include: written
/// below the cache directory, by content. A DeviceError where that cannot be written.
[[nodiscard]] std::vector<std::string> problem_options(const Problem& problem, const GpuDevice& device,
                                                       const GpuOptions& options,
                                                       const std::vector<std::string>& flags);

}  // namespace kernelsearch::detail::gpu
