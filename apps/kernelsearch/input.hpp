// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <filesystem>
#include <string>

#include "kernelsearch/problem/problem.hpp"
#include "kernelsearch/space/space.hpp"

/// What the user names on the command line, and what has a name without that.
namespace kernelsearch::app {

/// Whether the file is a T1 file rather than a problem.
[[nodiscard]] bool is_t1_file(const std::filesystem::path& path);

/// A problem folder, its problem.json, or a T1 file that says enough. ConfigError otherwise.
[[nodiscard]] Problem read_any_problem(const std::filesystem::path& path);

/// The space of any of these; T1 files need no kernel for it.
[[nodiscard]] Space read_any_space(const std::filesystem::path& path);

/// A file or folder whose name is ours, or comes from a problem or a benchmark, rather than from the user. A
/// link of that name was not made by us, and is not followed: ConfigError, with `todo` as what to do.
std::string own_place(const std::string& name, const char* todo);

}  // namespace kernelsearch::app
