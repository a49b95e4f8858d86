// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/agents/data_files.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <utility>

#include "embedded_files.hpp"
#include "kernelsearch/core/error.hpp"

namespace kernelsearch {
namespace {

constexpr std::uintmax_t largest = std::uintmax_t{1} << 20;

std::string read_text(const std::filesystem::path& path) {
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  if (error) detail::raise<ConfigError>("a data file cannot be read", path.string(), error.message());
  if (size > largest)
    detail::raise<ConfigError>("a data file is too large",
                               path.string() + ": " + std::to_string(size) + " bytes", "keep it below 1 MiB");
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  if (!file) detail::raise<ConfigError>("a data file cannot be read", path.string(), "check its permissions");
  return text;
}

}  // namespace

std::vector<DataFile> data_files(std::string_view folder, const std::filesystem::path& user) {
  std::vector<DataFile> files;
  for (const detail::DataFile& file : detail::embedded_files())
    if (file.folder == folder)
      files.push_back({std::string(folder), std::string(file.name), std::string(file.text), {}});
  if (!user.empty()) {
    std::error_code error;
    if (!std::filesystem::is_directory(user, error))
      detail::raise<ConfigError>("there is no such folder of prompts and strategies", user.string(),
                                 "name a folder that holds prompts/ or strategies/");
    const std::filesystem::path place = user / folder;
    if (std::filesystem::is_directory(place, error))
      for (const auto& entry : std::filesystem::directory_iterator(place)) {
        const std::string extension = entry.path().extension().string();
        if (!entry.is_regular_file() || (extension != ".md" && extension != ".json")) continue;
        DataFile file{std::string(folder), entry.path().filename().string(), read_text(entry.path()),
                      entry.path()};
        const auto same = std::find_if(files.begin(), files.end(),
                                       [&](const DataFile& known) { return known.name == file.name; });
        if (same == files.end())
          files.push_back(std::move(file));
        else
          *same = std::move(file);
      }
  }
  std::sort(files.begin(), files.end(), [](const DataFile& a, const DataFile& b) { return a.name < b.name; });
  return files;
}

std::vector<std::string> data_folders() {
  std::vector<std::string> folders;
  for (const detail::DataFile& file : detail::embedded_files())
    if (folders.empty() || folders.back() != file.folder) folders.emplace_back(file.folder);
  return folders;
}

}  // namespace kernelsearch
