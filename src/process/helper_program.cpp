// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "process/helper_program.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "kernelsearch/core/error.hpp"

namespace kernelsearch::detail {

namespace fs = std::filesystem;

fs::path find_helper(const HelperProgram& program, const fs::path& given) {
  std::vector<fs::path> places;
  if (!given.empty()) {
    places.push_back(given);
  } else {
    const char* const name = program.name;
    if (const char* path = std::getenv(program.variable); path != nullptr && *path != '\0')
      places.emplace_back(path);
    if (fs::path carried = carried_program(name); !carried.empty()) places.push_back(std::move(carried));
    std::error_code error;
    const fs::path here = fs::read_symlink("/proc/self/exe", error).parent_path();
    places.push_back(here / name);
    places.push_back(here / ".." / "libexec" / "kernelsearch" / name);
    const std::string compiled_in = program.places;
    for (std::size_t begin = 0; begin < compiled_in.size();) {
      const std::size_t end = std::min(compiled_in.find(':', begin), compiled_in.size());
      places.emplace_back(compiled_in.substr(begin, end - begin));
      begin = end + 1;
    }
  }
  for (const fs::path& place : places)
    if (access(place.c_str(), X_OK) == 0 && !fs::is_directory(place)) return place;
  raise<ConfigError>(std::string(program.name) + " is not there", places.front().string(),
                     std::string("install it or set ") + program.variable + " to its path");
}

}  // namespace kernelsearch::detail
