// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/run/root_folder.hpp"

#include <algorithm>
#include <string>
#include <system_error>

#include "kernelsearch/core/error.hpp"

namespace kernelsearch {

namespace fs = std::filesystem;

RootFolder::RootFolder(const fs::path& folder) {
  std::error_code error;
  root_ = fs::canonical(folder, error);
  if (error || !fs::is_directory(root_))
    detail::raise<ConfigError>("the root is no folder", folder.string(), "name a folder that is there");
}

bool RootFolder::holds(const fs::path& path) const {
  std::error_code error;
  const fs::path real = fs::canonical(path, error);
  if (error) return false;
  const auto [end, unused] = std::mismatch(root_.begin(), root_.end(), real.begin(), real.end());
  return end == root_.end();
}

fs::path RootFolder::find(std::string_view name) const {
  const std::string given(name.substr(0, 4096));
  if (given.find('\0') != std::string::npos)
    detail::raise<ConfigError>("a path holds a zero byte", "", "give a path below the root");
  const fs::path path = root_ / fs::path(given);
  // One message for what is not there and what must not be looked at: nothing outside can be told from
  // nothing.
  if (!holds(path))
    detail::raise<ConfigError>("there is no such file or folder below the root", given,
                               "give a path relative to " + root_.string());
  return fs::canonical(path);
}

}  // namespace kernelsearch
