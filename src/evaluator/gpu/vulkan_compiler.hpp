// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <memory>
#include <string>

#include "evaluator/gpu/runtime_compiler.hpp"

namespace kernelsearch::detail::gpu {

/// glslangValidator behind the interface of run-time compilers: takes the texts of vulkan_source.hpp and
/// gives images of shaders. SPIR-V that it made of the same text is used again, so that a tunable which is a
/// specialisation constant costs no compilation. Null with `problem` set where the program is missing.
[[nodiscard]] std::unique_ptr<RuntimeCompiler> load_vulkan_compiler(std::string& problem);

}  // namespace kernelsearch::detail::gpu
