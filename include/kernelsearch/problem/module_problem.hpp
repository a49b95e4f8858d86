// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "kernelsearch/problem/problem.hpp"

namespace kernelsearch {

/// Whether what is named is a file of Python, CUDA or Triton rather than a problem folder or problem.json.
[[nodiscard]] bool is_module_file(const std::filesystem::path& path);

/// Whether what is right is said by a Python module: `"reference": {"python": ...}`.
[[nodiscard]] bool has_module_reference(const Problem& problem) noexcept;

/// Whether the reference of such a problem is a function rather than a class.
[[nodiscard]] bool is_function_reference(const Problem& problem);

/// The problem that a PyTorch module in KernelBench's form is: `class Model`, `get_inputs()` and
/// `get_init_inputs()`; the module is its reference, and itself, renamed `ModelNew`, the first candidate.
/// Lines `# kernelsearch: tolerances strict` and `# kernelsearch: threads N` of the file are options. A
/// ConfigError says of any other file what it is, and what to write; and where no Python has PyTorch, which
/// is looked for in `$KERNELSEARCH_PYTHON`, `$VIRTUAL_ENV`, `$PATH` and the system's folders.
[[nodiscard]] Problem read_module_problem(const std::filesystem::path& file);

/// The same of a text; `python`: the interpreter that has PyTorch.
[[nodiscard]] Problem module_problem(std::string_view text, const std::string& name,
                                     const std::filesystem::path& python);

/// The interpreter whose packages have PyTorch. ConfigError where there is none.
[[nodiscard]] std::filesystem::path find_torch_python();

}  // namespace kernelsearch
