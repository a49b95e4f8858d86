// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace kernelsearch {

/// The one folder that a client may name things in.
class RootFolder {
 public:
  /// ConfigError where it is not a folder.
  explicit RootFolder(const std::filesystem::path& folder);

  /// The file or folder of that name below the root, absolute or relative to it, links followed. ConfigError
  /// where it is not there or leads out, which names problems that are there.
  [[nodiscard]] std::filesystem::path find(std::string_view name) const;
  /// The same of a problem; ConfigError also for a folder without a problem.json.
  [[nodiscard]] std::filesystem::path find_problem(std::string_view name) const;

  /// Whether an existing path lies below the root once links are followed.
  [[nodiscard]] bool holds(const std::filesystem::path& path) const;

  /// Folders with a problem.json, relative to the root, by name; links are not followed, what lies deeper
  /// than four folders or after the first hundred is left out.
  [[nodiscard]] std::vector<std::string> problems() const;

  [[nodiscard]] const std::filesystem::path& path() const noexcept { return root_; }

 private:
  std::filesystem::path root_;
};

}  // namespace kernelsearch
