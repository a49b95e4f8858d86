// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <filesystem>
#include <string>

namespace kernelsearch::detail {

/// A ConfigError unless a file can be written in the folder, or in the one that would have to be made.
/// Nothing is left behind.
void require_writable_folder(const std::filesystem::path& folder, const std::string& what);

/// A ConfigError unless the file can be written. Nothing is left behind, and what it holds stays.
void require_writable_file(const std::filesystem::path& file, const std::string& what);

}  // namespace kernelsearch::detail
