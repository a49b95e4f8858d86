// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "python_text.hpp"

#include <algorithm>

#include "kernelsearch/core/impl/text.hpp"
#include "modules_program.hpp"

namespace kernelsearch::detail {

std::vector<PythonDefinition> python_definitions(std::string_view text) {
  std::vector<PythonDefinition> found;
  bool compiled = false, decorated = false;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = text.substr(begin, end - begin),
                           whole = text.substr(begin, end + 1 - begin);
    begin = end + 1;
    const auto add = [&](PythonDefinition::Kind kind, std::string name) {
      found.push_back({kind, std::move(name), decorated && compiled, std::string(whole)});
      compiled = decorated = false;
    };
    if (line.starts_with("@")) {
      compiled = (decorated && compiled) || line.find("jit") != std::string_view::npos;
      decorated = true;
      continue;
    }
    const auto word =
        static_cast<std::size_t>(std::find_if_not(line.begin(), line.end(), in_word) - line.begin());
    const std::size_t equals = line.find_first_not_of(" \t", word);
    if (std::string function = defined_name(line, "def"); !function.empty()) {
      add(PythonDefinition::Kind::function, std::move(function));
    } else if (std::string type = defined_name(line, "class"); !type.empty()) {
      add(PythonDefinition::Kind::type, std::move(type));
    } else if (word > 0 && equals != std::string_view::npos && line[equals] == '=' &&
               line.substr(equals, 2) != "==") {
      add(PythonDefinition::Kind::value, std::string(line.substr(0, word)));
    } else {
      if (word > 0)
        compiled = decorated = false;  // decorators go on over lines that do not begin with a word
      if (!found.empty()) found.back().text += whole;
    }
  }
  return found;
}

}  // namespace kernelsearch::detail
