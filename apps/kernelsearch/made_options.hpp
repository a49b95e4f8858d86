// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <filesystem>
#include <stop_token>
#include <string>
#include <vector>

namespace kernelsearch::app {

/// Raises what is wrong with arguments behind `--` for something that has no command to make a problem.
void refuse_arguments_for(const std::filesystem::path& path);

/// Makes the problem of a folder with a make_problem.json in `out`, by default where the library says, and
/// returns that folder; empty where it was stopped. What the command prints is shown on stderr.
[[nodiscard]] std::filesystem::path make_shown_problem(const std::filesystem::path& path,
                                                       std::filesystem::path out,
                                                       std::vector<std::string> arguments,
                                                       std::stop_token stop, bool quiet);

}  // namespace kernelsearch::app
