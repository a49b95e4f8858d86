// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <optional>
#include <string>

namespace kernelsearch {

/// The bytes of a file; nothing where it cannot be read, is a folder, or has more than `most` bytes. Pipes
/// are read to their end.
[[nodiscard]] inline std::optional<std::string> try_whole_file(
    const std::filesystem::path& file, std::uintmax_t most = std::numeric_limits<std::uintmax_t>::max()) {
  std::ifstream in(file, std::ios::binary);
  if (!in) return std::nullopt;
  std::string bytes;
  std::array<char, 1 << 16> part;
  while (in.read(part.data(), part.size()) || in.gcount() > 0) {
    bytes.append(part.data(), static_cast<std::size_t>(in.gcount()));
    if (bytes.size() > most) return std::nullopt;
  }
  if (in.bad()) return std::nullopt;
  return bytes;
}

}  // namespace kernelsearch
