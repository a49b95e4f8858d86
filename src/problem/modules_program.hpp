// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "kernelsearch/problem/command_task.hpp"
#include "kernelsearch/problem/problem.hpp"

namespace kernelsearch::detail {

/// The text of python/kernelsearch/modules.py, which is compiled in.
[[nodiscard]] std::string_view modules_program() noexcept;

/// The text of python/kernelsearch/commands.py.
[[nodiscard]] std::string_view commands_program() noexcept;

/// The text of python/kernelsearch/native.py.
[[nodiscard]] std::string_view native_program() noexcept;

/// Two lower-case digits for each byte.
[[nodiscard]] std::string hex_digits(std::string_view bytes);

/// `plain`, or where the object has that key, the first of `plain#2`, `plain#3`, ... that it has not.
[[nodiscard]] std::string new_key(const nlohmann::ordered_json& object, const std::string& plain);

/// A JSON value as a literal of Python.
[[nodiscard]] std::string python_literal(const nlohmann::ordered_json& json, int indent);

/// What a reader wrote behind a reference with `python_literal`, as `TASK = {...}`; null where nothing is
/// there.
[[nodiscard]] nlohmann::ordered_json task_literal(std::string_view reference);

/// The name that a line of Python defines with `keyword`, `def` or `class`, in its first column; else empty.
[[nodiscard]] std::string defined_name(std::string_view line, std::string_view keyword);

/// Whether a line of the text does so with that name. No regular expression: those of the library take a
/// stack's frame for each character, and texts of others are long.
[[nodiscard]] bool defines(std::string_view text, std::string_view keyword, std::string_view name);

/// Whether the text is a module in KernelBench's form.
[[nodiscard]] bool is_module_text(std::string_view text);

/// The text of a file of at most 4 MiB without NUL; a ConfigError where it cannot be read.
/// `within`: a link out of that folder is refused, unless empty.
[[nodiscard]] std::string whole_text_of(const std::filesystem::path& file,
                                        const std::filesystem::path& within = {});

/// Makes it a problem of this program, run by an interpreter that has PyTorch: its backend, and that what is
/// right is said in Python.
void add_modules_program(Problem& problem, const std::filesystem::path& python);

/// What `command_task_of` reads.
[[nodiscard]] std::string command_task_json(const CommandTask& task);

/// The same for a task whose commands say what is right, docs/tasks.md.
void add_commands_program(Problem& problem, const std::filesystem::path& python);

}  // namespace kernelsearch::detail
