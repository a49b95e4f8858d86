// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/problem/scaffold.hpp"

#include <algorithm>
#include <string_view>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/core/impl/text.hpp"
#include "problem_parts.hpp"
#include "scaffold_texts.hpp"
#include "write_files.hpp"

namespace kernelsearch {
namespace {

/// A C++ name made of another one; keywords and names that cannot begin so get an addition.
std::string function_name(const std::string& name) {
  std::string result;
  for (const char c : name) result += detail::is_alphanumeric(c) ? c : '_';
  const bool has_letter =
      std::any_of(result.begin(), result.end(), [](char c) { return c > '9' && c != '_'; });
  if (!has_letter)
    detail::raise<ConfigError>("the problem's name has no letter", '"' + name + '"',
                               "call it, say, my-kernel");
  while (result.front() == '_') result.erase(0, 1);
  if (!detail::is_name(result)) result = "kernel_" + result;
  return result;
}

std::string filled(std::string_view text, const std::string& name, const ScaffoldOptions& options) {
  const std::pair<std::string_view, std::string> fields[] = {
      {"@NAME@", name}, {"@FUNCTION@", function_name(name)}, {"@COMPILER@", options.compiler}};
  std::string result(text);
  for (const auto& [field, value] : fields)
    for (std::size_t at = result.find(field); at != std::string::npos;
         at = result.find(field, at + value.size()))
      result.replace(at, field.size(), value);
  return result;
}

}  // namespace

void scaffold_problem(const std::filesystem::path& folder, const std::string& name, ScaffoldOptions options) {
  detail::check_quotable(name);
  detail::check_quotable(options.compiler);
  detail::write_files(folder, {{"problem.json", filled(detail::scaffold_problem_json, name, options)},
                               {"kernel.cpp", filled(detail::scaffold_kernel, name, options)},
                               {"reference.cpp", filled(detail::scaffold_reference, name, options)}});
}

}  // namespace kernelsearch
