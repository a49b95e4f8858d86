// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "input.hpp"

#include <nlohmann/json.hpp>

#include <fstream>
#include <system_error>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/problem/read_problem.hpp"
#include "kernelsearch/problem/t1.hpp"

namespace kernelsearch::app {

bool is_t1_file(const std::filesystem::path& path) {
  // A pipe in a folder of others would be waited for.
  if (!std::filesystem::is_regular_file(path)) return false;
  std::ifstream file(path);
  const auto json = nlohmann::json::parse(file, nullptr, false, true);
  return json.is_object() && json.contains("ConfigurationSpace");
}

Problem read_any_problem(const std::filesystem::path& path) {
  if (is_t1_file(path))
    detail::raise<ConfigError>(
        "a T1 file describes a space, not a host kernel that could be run", path.string(),
        "look at it with `kernelsearch space`, or write a problem with `kernelsearch new`");
  return read_problem(path);
}

Space read_any_space(const std::filesystem::path& path) {
  if (!std::filesystem::exists(path))
    detail::raise<ConfigError>("no such file or folder", path.string(),
                               "give a problem folder, a problem.json or a T1 file");
  if (is_t1_file(path)) return read_t1(path).space;
  return read_problem(path).kernel.space;
}

std::string own_place(const std::string& name, const char* todo) {
  std::error_code error;
  if (std::filesystem::is_symlink(name, error))
    detail::raise<ConfigError>("what would be written to is a link", name, todo);
  return name;
}

}  // namespace kernelsearch::app
