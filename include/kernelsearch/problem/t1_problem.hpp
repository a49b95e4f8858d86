// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "kernelsearch/core/result.hpp"
#include "kernelsearch/problem/problem.hpp"
#include "kernelsearch/problem/t1.hpp"

namespace kernelsearch {

/// A T1 file as a device problem whose reference is the kernel at its default; the kernel's file is looked
/// for in `folder`. The shape's variables are problem_size_x, _y and _z. A ConfigError lists everything that
/// the file lacks to be one; it still is a space.
[[nodiscard]] Problem t1_problem(const T1File& file, const std::filesystem::path& folder);

/// The same without raising; the error lists what is missing.
[[nodiscard]] Result<Problem, std::vector<std::string>> try_t1_problem(const T1File& file,
                                                                       const std::filesystem::path& folder);

}  // namespace kernelsearch
