// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "source_text.hpp"

#include <cctype>
#include <regex>

namespace kernelsearch_standin {
namespace {

/// Comments become blanks.
std::string without_comments(std::string text) {
  for (std::size_t at = text.find('/'); at != std::string::npos && at + 1 < text.size();
       at = text.find('/', at + 1)) {
    std::size_t end = at;
    if (text[at + 1] == '/') end = text.find('\n', at);
    if (text[at + 1] == '*') end = text.find("*/", at + 2);
    if (end == at) continue;
    if (end == std::string::npos)
      end = text.size();
    else if (text[at + 1] == '*')
      end += 2;
    for (std::size_t i = at; i < end; ++i)
      if (text[i] != '\n') text[i] = ' ';
  }
  return text;
}

/// Behind the parenthesis that closes the one at `open`; `comma` is the first one directly inside, or the
/// end.
std::size_t close_of(const std::string& text, std::size_t open, std::size_t& comma) {
  int depth = 0;
  comma = std::string::npos;
  for (std::size_t i = open; i < text.size(); ++i) {
    if (text[i] == '(') ++depth;
    if (text[i] == ',' && depth == 1 && comma == std::string::npos) comma = i;
    if (text[i] == ')' && --depth == 0) {
      if (comma == std::string::npos) comma = i;
      return i + 1;
    }
  }
  return std::string::npos;
}

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

}  // namespace

std::string bind_dynamic_shared(const std::string& source) {
  static const std::regex declaration(R"(extern\s+__shared__([^;]*?)(\w+)\s*((?:\[[^\]]*\]\s*)+);)");
  return std::regex_replace(source, declaration, "$1 (&$2)$3 = ::kernelsearch_standin::DynamicShared();");
}

std::map<std::string, std::string> launch_bounds(const std::string& source) {
  static const std::string keyword = "__launch_bounds__";
  const std::string text = without_comments(source);
  std::map<std::string, std::string> bounds;
  for (std::size_t at = text.find(keyword); at != std::string::npos; at = text.find(keyword, at + 1)) {
    const std::size_t open = text.find_first_not_of(" \t\n", at + keyword.size());
    if (open == std::string::npos || text[open] != '(') continue;
    std::size_t comma = 0;
    const std::size_t close = close_of(text, open, comma);
    // The kernel's name is the word in front of the parentheses that no further word follows: attributes may
    // stand between.
    std::size_t parameters = close == std::string::npos ? close : text.find('(', close), from = close;
    for (std::size_t ignored = 0; parameters != std::string::npos;) {
      const std::size_t behind = close_of(text, parameters, ignored);
      const std::size_t next = behind == std::string::npos ? behind : text.find_first_not_of(" \t\n", behind);
      if (next == std::string::npos || !is_word(text[next])) break;
      from = next;
      parameters = text.find('(', next);
    }
    if (parameters == std::string::npos) continue;
    std::size_t end = parameters;
    while (end > from && std::isspace(static_cast<unsigned char>(text[end - 1])) != 0) --end;
    std::size_t begin = end;
    while (begin > from && is_word(text[begin - 1])) --begin;
    if (begin < end) bounds[text.substr(begin, end - begin)] = text.substr(open + 1, comma - open - 1);
  }
  return bounds;
}

}  // namespace kernelsearch_standin
