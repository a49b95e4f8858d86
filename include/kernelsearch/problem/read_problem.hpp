// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "kernelsearch/problem/problem.hpp"

namespace kernelsearch {

/// The problem in a folder's problem.json, or in the file given, with its sources (docs/formats/problem.md).
/// Everything that can be known to be wrong without running it is a ConfigError that names the file, the
/// line, the JSON pointer, what is there and what to write.
[[nodiscard]] Problem read_problem(const std::filesystem::path& folder_or_file);

/// The same from text; sources named by file are looked for in `folder` and must not lead out of it.
[[nodiscard]] Problem parse_problem(std::string_view text, const std::filesystem::path& folder);

/// The space of a JSON object that has only the `tunables`, `constraints` and `default` of a problem; `name`
/// stands for the text in errors.
[[nodiscard]] Space parse_space(std::string_view text, const std::string& name);

}  // namespace kernelsearch
