// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "shader/shader_text.hpp"

namespace kernelsearch::detail::gpu {

/// glslangValidator, a program: `KERNELSEARCH_GLSLANG` names another. Empty where it is not there.
[[nodiscard]] std::filesystem::path find_glslang();

/// Program and version, as builds are kept by; empty where it does not run.
[[nodiscard]] std::string glslang_identity(const std::filesystem::path& program);

/// One compilation to SPIR-V.
struct ShaderBuild {
  std::string text;      ///< whole, with `#version` in its first line where it is GLSL
  std::string function;  ///< HLSL: the entry point. GLSL has `main` alone
  ShaderLanguage language = ShaderLanguage::glsl;
  std::vector<std::string> options;  ///< that are passed on, such as -I and -D
  double seconds = 60;
};

/// SPIR-V 1.3 for Vulkan 1.1, in which structured buffers of HLSL are valid, or why there is none.
struct ShaderBuilt {
  std::vector<std::uint32_t> words;
  std::string log;
  bool timed_out = false;
};

/// Runs glslangValidator, as a process: where the caller is in a sandbox, so is it.
[[nodiscard]] ShaderBuilt run_glslang(const std::filesystem::path& program, const ShaderBuild& build);

/// What glslangValidator said, in the form of other compilers (`FILE:LINE: error: ...`) and without its
/// closing lines.
[[nodiscard]] std::string cleaned_glslang(const std::string& log);

}  // namespace kernelsearch::detail::gpu
