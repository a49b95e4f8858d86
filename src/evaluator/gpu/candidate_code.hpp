// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "evaluator/gpu/builder_pool.hpp"
#include "evaluator/gpu/gpu_worker_client.hpp"
#include "kernelsearch/evaluator/gpu/gpu_device.hpp"
#include "kernelsearch/problem/kernel.hpp"
#include "kernelsearch/problem/problem.hpp"

namespace kernelsearch::detail::gpu {

/// Whether a launch function of the kernel's own launches it, instead of the problem's steps.
[[nodiscard]] inline bool launches_itself(const Kernel& kernel) noexcept {
  return !kernel.regions.host.empty();
}

/// The text that nvcc or hipcc makes a library of: tunables, macros, device and host region, and the entry
/// that passes parameters on to the launch function, whose signature the compiler checks against the problem.
[[nodiscard]] std::string library_source(const Problem& problem, const Candidate& candidate);

/// Compiles a candidate: device code by the run-time compiler, with a host region a library by the whole one.
[[nodiscard]] Built build_candidate(BuilderPool& builders, const Problem& problem, const Candidate& candidate,
                                    const GpuDevice& device, const GpuOptions& options,
                                    const std::stop_token& stop = {});

/// The compiler of the problem's kernel with its version; a ConfigError where it is missing.
[[nodiscard]] std::string compiler_identity(BuilderPool& builders, const Problem& problem);

/// Loads what `build_candidate` made of a candidate; of a library no kernel's resources are known.
[[nodiscard]] std::optional<WorkerError> load_candidate(GpuWorkerClient& worker, ModuleId module,
                                                        const std::vector<std::byte>& image, bool library,
                                                        const std::vector<std::string>& functions,
                                                        std::vector<FunctionFacts>& facts);

}  // namespace kernelsearch::detail::gpu
