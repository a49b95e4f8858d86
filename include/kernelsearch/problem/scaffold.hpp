// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <filesystem>
#include <string>

namespace kernelsearch {

/// How a new problem folder is written.
struct ScaffoldOptions {
  std::string compiler = "g++";  ///< that the problem names for building candidates
};

/// Writes a new problem to `folder`: a matrix-vector product that tunes at once, meant to be replaced by the
/// user's own kernel, with every part of problem.json explained in it. The function is called `name`, with
/// underscores for what no C++ name holds. A ConfigError if a file is in the way or the name has no letter.
void scaffold_problem(const std::filesystem::path& folder, const std::string& name,
                      ScaffoldOptions options = {});

}  // namespace kernelsearch
