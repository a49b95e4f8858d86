// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "evaluator/gpu/glslang.hpp"
#include "evaluator/gpu/vulkan_image.hpp"
#include "kernelsearch/core/value.hpp"
#include "kernelsearch/problem/kernel.hpp"
#include "kernelsearch/problem/problem.hpp"

namespace kernelsearch::detail::gpu {

/// A shader as its compiler needs it: which parameters each kernel is launched with, since SPIR-V is made of
/// one entry point at a time and says nothing of them.
struct ShaderSource {
  struct Entry {
    std::string function;
    std::string define;  ///< of the text when this one is compiled; may be empty
    std::vector<ShaderParameter> parameters;
  };
  ShaderLanguage language = ShaderLanguage::glsl;
  bool ready = false;   ///< `text` is a module of SPIR-V, see ready_module.hpp
  bool begins = false;  ///< see bind_shader
  std::vector<Entry> entries;
  std::vector<std::pair<std::string, Value>> constants;  ///< values of specialisation constants
  std::string text;
};

/// The source as one text, as it travels to the compiler: lines `//@shader ...`, then the text.
[[nodiscard]] std::string written(const ShaderSource& source);
/// What `written` gave; nothing where it is not such a text.
[[nodiscard]] std::optional<ShaderSource> shader_source_of(std::string_view text);

/// A candidate's shader: tunables are macros, or specialisation constants where the source declares one of
/// their name. For a ready module they are constants all, but for those that only the launch and sizes name.
[[nodiscard]] std::string vulkan_source(const Problem& problem, const Candidate& candidate);

/// The reference with `real` a macro.
[[nodiscard]] std::string vulkan_reference_source(const Problem& problem, const char* real);

/// The evaluator's own shaders, with the parameters of `Service`.
[[nodiscard]] std::string vulkan_service_source(std::string_view text);

}  // namespace kernelsearch::detail::gpu
