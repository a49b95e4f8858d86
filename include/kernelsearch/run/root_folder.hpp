// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <filesystem>
#include <string_view>

namespace kernelsearch {

/// The one folder that a client may name things in.
class RootFolder {
 public:
  /// ConfigError where it is no folder.
  explicit RootFolder(const std::filesystem::path& folder);

  /// The file or folder of that name below the root, absolute or relative to it, links followed. ConfigError
  /// where it is not there or leads out.
  [[nodiscard]] std::filesystem::path find(std::string_view name) const;

  /// Whether an existing path lies below the root once links are followed.
  [[nodiscard]] bool holds(const std::filesystem::path& path) const;

  [[nodiscard]] const std::filesystem::path& path() const noexcept { return root_; }

 private:
  std::filesystem::path root_;
};

}  // namespace kernelsearch
