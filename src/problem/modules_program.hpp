// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "kernelsearch/problem/problem.hpp"

namespace kernelsearch::detail {

/// The text of python/kernelsearch/modules.py, which is compiled in.
[[nodiscard]] std::string_view modules_program() noexcept;

/// A JSON value as a literal of Python.
[[nodiscard]] std::string python_literal(const nlohmann::ordered_json& json, int indent);

/// The text of a file of at most 4 MiB without NUL; a ConfigError where it cannot be read.
[[nodiscard]] std::string whole_text_of(const std::filesystem::path& file);

/// Makes it a problem of this program, run by an interpreter that has PyTorch: its backend, and that what is
/// right is said in Python.
void add_modules_program(Problem& problem, const std::filesystem::path& python);

}  // namespace kernelsearch::detail
