// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "kernelsearch/problem/problem.hpp"
#include "kernelsearch/problem/t1.hpp"

namespace kernelsearch {

/// A T1 file as a device problem whose reference is the kernel at its default; the kernel's file is looked
/// for in `folder`. The shape's variables are problem_size_x, _y and _z. A ConfigError lists everything that
/// the file lacks to be one; it still is a space.
[[nodiscard]] Problem t1_problem(const T1File& file, const std::filesystem::path& folder);

/// The same without raising: empty where something is missing, which is listed in `missing`.
[[nodiscard]] std::optional<Problem> try_t1_problem(const T1File& file, const std::filesystem::path& folder,
                                                    std::vector<std::string>& missing);

}  // namespace kernelsearch
