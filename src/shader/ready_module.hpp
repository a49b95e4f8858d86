// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernelsearch/core/result.hpp"
#include "kernelsearch/core/value.hpp"
#include "shader/spirv_module.hpp"

/// A kernel that is a ready module of SPIR-V. As a region of a kernel it is text: its words in hexadecimal,
/// as `glslangValidator -x` writes them, since stores, JSON and prompts hold texts.
namespace kernelsearch::detail {

/// Whether a kernel's file of this name is a ready module: it ends in `.spv`.
[[nodiscard]] bool is_ready_file(std::string_view name) noexcept;

/// Whether a region's text is a ready module, by how it begins.
[[nodiscard]] bool is_ready_text(std::string_view text) noexcept;

/// The words as text, eight in a line.
[[nodiscard]] std::string ready_text(std::span<const std::uint32_t> words);

/// The words of a file's bytes, or of a text that ready_text or glslangValidator -x gave; comments to the
/// ends of lines are skipped.
[[nodiscard]] Result<std::vector<std::uint32_t>> ready_words(std::string_view content);

/// The words as bytes of a file, in the byte order of this machine.
[[nodiscard]] std::string ready_bytes(std::span<const std::uint32_t> words);

/// The kernel that a launch names: the entry point called `function`, or, for a problem that launches one
/// kernel alone, the only one that the module has. As read_spirv reads it; what Vulkan 1.1 does not take is
/// refused too.
[[nodiscard]] Result<SpirvKernel> read_ready(std::span<const std::uint32_t> words,
                                             const std::string& function, bool alone,
                                             std::span<const std::pair<std::string, Value>> values);

/// Why a ready module has no use for a tunable: it has no specialisation constant of that name; empty: it has
[[nodiscard]] std::string no_constant(const SpirvKernel& kernel, const std::string& tunable);

/// The module with the values that `constants` have as those that its specialisation constants are declared
/// with, so that it is the kernel of these values without any specialisation.
[[nodiscard]] std::vector<std::uint32_t> specialised(std::vector<std::uint32_t> words,
                                                     std::span<const SpirvConstant> constants);

}  // namespace kernelsearch::detail
