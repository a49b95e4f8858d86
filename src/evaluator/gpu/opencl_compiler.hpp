// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <memory>
#include <string>

#include "evaluator/gpu/runtime_compiler.hpp"

namespace kernelsearch::detail::gpu {

/// The compiler in the driver of that device (see opencl_devices). Its images are 8 bytes of length and what
/// CL_PROGRAM_BINARIES gives; the names of kernels are what they are. Null with `problem` set where there is
/// no such device.
[[nodiscard]] std::unique_ptr<RuntimeCompiler> load_opencl_compiler(std::string& problem, int device);

}  // namespace kernelsearch::detail::gpu
