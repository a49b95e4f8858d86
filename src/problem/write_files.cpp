// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "write_files.hpp"

#include <fstream>
#include <system_error>

#include "kernelsearch/core/error.hpp"

namespace kernelsearch::detail {

void write_files(const std::filesystem::path& folder,
                 const std::vector<std::pair<std::string, std::string>>& files) {
  namespace fs = std::filesystem;
  for (const auto& file : files) {
    std::error_code error;
    if (fs::exists(fs::symlink_status(folder / file.first, error)))
      raise<ConfigError>("a file is there already", (folder / file.first).string(),
                         "choose another folder or remove the file");
  }
  std::error_code error;
  fs::create_directories(folder, error);
  if (!fs::is_directory(folder))
    raise<ConfigError>("the folder cannot be made", folder.string() + ": " + error.message(),
                       "choose another one");
  for (const auto& [name, text] : files) {
    fs::create_directories((folder / name).parent_path(), error);
    std::ofstream file(folder / name, std::ios::binary);
    file.write(text.data(), static_cast<std::streamsize>(text.size()));
    file.close();
    if (!file)
      raise<ConfigError>("a file cannot be written", (folder / name).string(), "check space and permissions");
  }
}

void check_quotable(const std::string& text) {
  for (const char c : text)
    if (c == '"' || c == '\\' || static_cast<unsigned char>(c) < 32)
      raise<ConfigError>("a name holds a character that it cannot", text, "leave out quotes and backslashes");
}

}  // namespace kernelsearch::detail
