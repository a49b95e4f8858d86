// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace kernelsearch {

/// A strategy, a transformation or whatever else a data file describes.
struct MethodEntry {
  std::string folder;  ///< of the data: `strategies`, `transformations`, ...
  std::string name;
  std::string description;
  std::string file;                        ///< below the data folder
  std::string definition;                  ///< the whole of it, as JSON
  std::vector<std::string> backends = {};  ///< that it is for; empty: all
  /// Traits of problems that it is for: of its tags those that are traits, and what its conditions ask for.
  std::vector<std::string> traits = {};

  [[nodiscard]] bool is_for_backend(std::string_view backend) const;
  /// Whether it is for problems with one of these traits; where none are known, or it asks for none, it is.
  [[nodiscard]] bool is_for_traits(const std::vector<std::string>& wanted) const;
  /// The description's first sentence, cut where it is long.
  [[nodiscard]] std::string summary() const;
};

/// Where the data files are: `$KERNELSEARCH_DATA`, else next to the sources, else where they were installed;
/// empty where there are none.
[[nodiscard]] std::filesystem::path data_folder();

/// What the JSON files below `data` describe, one folder after another, by name: an object with `name` and
/// `description`, or lists of such objects; of a set that has a list named as its folder, that list's. Files
/// that are anything else are left out.
[[nodiscard]] std::vector<MethodEntry> read_method_files(const std::filesystem::path& data);

}  // namespace kernelsearch
