// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace kernelsearch::detail::gpu {

/// The whole file; empty where it cannot be read.
[[nodiscard]] std::vector<std::byte> read_bytes(const std::filesystem::path& path);

/// Writes a file of the cache, its folder too; a full disk costs the cache, not the run.
void keep(const std::filesystem::path& target, const std::vector<std::byte>& bytes);

/// A list that ends where it says, as a part of what a key is made of.
[[nodiscard]] std::string listed(const std::vector<std::string>& list);

/// What is said of a compiler that was stopped.
[[nodiscard]] std::string too_long(double seconds);

}  // namespace kernelsearch::detail::gpu
