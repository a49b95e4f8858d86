// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "kernelsearch/problem/problem.hpp"

namespace kernelsearch {

/// Whether a text is a file in TritonBench-G's form: kernels and wrappers, a line of 146 `#`, tests.
[[nodiscard]] bool is_triton_bench(std::string_view text);

/// The problem that such a file is, docs/tasks.md: what its wrappers give for the calls that its test makes
/// is right, and an answer is a file with the same wrappers. Reading runs nothing. A ConfigError says of a
/// file of another form what it is. `python`: the interpreter that has PyTorch.
[[nodiscard]] Problem triton_bench_problem(std::string_view text, const std::string& name,
                                           const std::filesystem::path& python);

/// Whether a folder is a task in GPU MODE's form: it has task.yml and reference.py.
[[nodiscard]] bool is_gpu_mode_folder(const std::filesystem::path& folder);

/// The problem that such a folder is: `ref_kernel` of reference.py says what is right, or
/// `check_implementation` if it has that; its benchmarks are timed shapes, its tests shapes that are only
/// checked, and an answer is a file with `custom_kernel`. `python`: the interpreter that has PyTorch, which
/// is looked for if left out.
[[nodiscard]] Problem read_gpu_mode_problem(const std::filesystem::path& folder,
                                            const std::filesystem::path& python = {});

}  // namespace kernelsearch
