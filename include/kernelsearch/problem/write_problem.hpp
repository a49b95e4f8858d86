// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <filesystem>
#include <string>

#include "kernelsearch/problem/problem.hpp"

namespace kernelsearch {

/// The problem as the text of a problem.json that holds its sources inline; reading it gives an equal
/// problem. A ConfigError for a constraint that is a C++ function, which has no text.
[[nodiscard]] std::string problem_json(const Problem& problem);

/// Writes problem.json and its sources (kernel, host, macros, reference) to `folder`, which is made if need
/// be. A ConfigError if one of the files exists already or cannot be written.
void write_problem(const Problem& problem, const std::filesystem::path& folder);

}  // namespace kernelsearch
