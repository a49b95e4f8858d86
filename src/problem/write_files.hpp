// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace kernelsearch::detail {

/// Writes the files (name and text) into `folder`, making it; writes none if one of them is there already.
void write_files(const std::filesystem::path& folder,
                 const std::vector<std::pair<std::string, std::string>>& files);

/// Refuses a text that could not stand between quotes in the files of a new problem.
void check_quotable(const std::string& text);

}  // namespace kernelsearch::detail
