// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernelsearch/core/value.hpp"

namespace kernelsearch::detail {

enum class ShaderLanguage : std::uint8_t { glsl, hlsl };

/// Which language a shader is written in: HLSL by the ending of its file (`.hlsl`), or where a compute
/// shader's work group is given as HLSL does (`[numthreads(...)]`).
[[nodiscard]] ShaderLanguage shader_language(std::string_view file, std::string_view text);

/// The names of the specialisation constants that a text declares, `constant_id` in GLSL and HLSL alike:
/// tunables with these names are not macros.
[[nodiscard]] std::vector<std::string> declared_constants(std::string_view text);

/// The text with other values for the specialisation constants that it declares: those of their names.
[[nodiscard]] std::string with_constants(std::string text,
                                         const std::vector<std::pair<std::string, Value>>& values);

/// The whole text with `#version` in its first line, where GLSL needs it, `head` after it, and the regions as
/// they are; `#version` of a region is taken from there, and 450 without one.
[[nodiscard]] std::string with_version(ShaderLanguage language, const std::string& head,
                                       const std::string& regions);

}  // namespace kernelsearch::detail
