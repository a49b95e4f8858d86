// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace kernelsearch::detail::gpu {

struct Built;

/// The whole file; empty where it cannot be read.
[[nodiscard]] std::vector<std::byte> read_bytes(const std::filesystem::path& path);

/// Writes a file of the cache, its folder too; a full disk costs the cache, not the run.
void keep(const std::filesystem::path& target, const std::vector<std::byte>& bytes);

/// Writes what was built as a pool reads it again.
void keep_built(const std::filesystem::path& target, const Built& built);

/// A list of options as a part of what a key is made of: it ends where it says, and does not depend on where
/// this process keeps files of problems.
[[nodiscard]] std::string key_text(const std::vector<std::string>& options);

/// A compiler's words with the files of problems called as in the problem's folder.
[[nodiscard]] std::string with_own_names(std::string log);

/// What is said of a compiler that was stopped.
[[nodiscard]] std::string too_long(double seconds);

}  // namespace kernelsearch::detail::gpu
