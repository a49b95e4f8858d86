// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <filesystem>
#include <string>

namespace kernelsearch::recorded {

/// What is left of a file.
struct TextFile {
  std::string text;
  bool cut = false;  ///< a gzip file that ends too early; `text` is what came before
};

/// The whole content of a file, unpacked where it is gzip. ConfigError where it cannot be read.
[[nodiscard]] TextFile read_text(const std::filesystem::path& file);

/// Writes a file, packed where its name ends in `.gz`, and puts it in its place once it is whole. ConfigError
/// where that fails; a file that was there before is then as it was.
void write_text(const std::filesystem::path& file, const std::string& text);

}  // namespace kernelsearch::recorded
