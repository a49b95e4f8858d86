// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <filesystem>

#include "kernelsearch/problem/problem.hpp"

namespace kernelsearch {

/// The definition.json or solution that a path names, docs/tasks.md: a file of one of these forms, a folder
/// with `definition.json`, with one file that is a definition, or in the layout of FlashInfer-Bench's data
/// sets (`definitions/`, `workloads/`). Empty where nothing is found. A ConfigError where there are several.
[[nodiscard]] std::filesystem::path find_definition(const std::filesystem::path& folder_or_file);

/// The problem that a definition and its workloads are: the function `run` of `reference` says what is right,
/// each workload is a shape, and an answer is a file with `def run`. Where a solution is named, that is the
/// first candidate; otherwise the reference is. Reading runs nothing of what the files say, and paths in
/// workloads stay inside the folder. `python`: the interpreter that has PyTorch, which is looked for if left
/// out. A ConfigError with the reason for what cannot be read or judged.
[[nodiscard]] Problem read_definition_problem(const std::filesystem::path& file,
                                              const std::filesystem::path& python = {});

/// Has answers to a problem with a Python reference compared in pairs with another answer too: a solution of
/// the same definition, or for any such problem a file of Python that is an answer. A ConfigError where the
/// file is neither, or the problem is of another kind.
void add_baseline(Problem& problem, const std::filesystem::path& file);

/// The text of that answer; null where the problem has none.
[[nodiscard]] const std::string* baseline_of(const Problem& problem) noexcept;

}  // namespace kernelsearch
