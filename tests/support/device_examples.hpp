// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace support {

/// The problems of a backend, in order of their paths: in `examples/BACKEND` folders with a problem.json, and
/// NAME.json, which shares files with its neighbors; and `examples/NAME_BACKEND.json`, which shares files
/// with problems of other backends.
inline std::vector<std::filesystem::path> device_examples(const std::filesystem::path& examples,
                                                          std::string_view backend) {
  namespace fs = std::filesystem;
  std::vector<fs::path> found;
  if (fs::is_directory(examples / backend))
    for (const fs::directory_entry& entry : fs::directory_iterator(examples / backend))
      if (fs::exists(entry.path() / "problem.json") || entry.path().extension() == ".json")
        found.push_back(entry.path());
  const std::string of_several = '_' + std::string(backend);
  for (const fs::directory_entry& entry : fs::directory_iterator(examples))
    if (entry.path().extension() == ".json" && entry.path().stem().string().ends_with(of_several))
      found.push_back(entry.path());
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace support
