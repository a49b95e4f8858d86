// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace kernelsearch {

/// A strategy, a transformation or whatever else a data file describes.
struct MethodEntry {
  std::string folder;  ///< of the data: `strategies`, `transformations`, ...
  std::string name;
  std::string description;
  std::string file;        ///< below the data folder
  std::string definition;  ///< the whole of it, as JSON
};

/// Where the data files are: `$KERNELSEARCH_DATA`, else beside the sources, else where they were installed;
/// empty where there are none.
[[nodiscard]] std::filesystem::path data_folder();

/// What the JSON files below `data` describe, one folder after another, by name: an object with `name` and
/// `description`, or lists of such objects; of a set that has a list named as its folder, that list's. Files
/// that are anything else are left out.
[[nodiscard]] std::vector<MethodEntry> read_method_files(const std::filesystem::path& data);

}  // namespace kernelsearch
