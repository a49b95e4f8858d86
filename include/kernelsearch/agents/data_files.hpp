// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace kernelsearch {

/// A file of prompts, strategies, methods or transformations: text that people may replace without building
/// anything.
struct DataFile {
  std::string folder;          ///< `prompts`, `strategies`, ...
  std::string name;            ///< with its extension
  std::string text;            ///< as it is there
  std::filesystem::path path;  ///< where it was read; empty: compiled in
};

/// The files of one folder by name: those compiled in, and those in `user`/`folder`, which replace files of
/// the same name and join the others. An empty `user` means compiled in alone. ConfigError where `user` is no
/// folder, and for a file over 1 MiB or that cannot be read.
[[nodiscard]] std::vector<DataFile> data_files(std::string_view folder,
                                               const std::filesystem::path& user = {});

/// The folders that have files compiled in, by name.
[[nodiscard]] std::vector<std::string> data_folders();

}  // namespace kernelsearch
