// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <optional>
#include <utility>

#include "kernelsearch/core/impl/text.hpp"
#include "kernelsearch/generator/marked_loops.hpp"

namespace kernelsearch {
namespace detail {

KERNELSEARCH_INLINE std::size_t skip_opaque(std::string_view code, std::size_t at) noexcept {
  // Called for each character of whole kernels, and hardly any begins something.
  const char first = at < code.size() ? code[at] : ' ';
  if (first != '/' && first != '"' && first != '\'') return at;
  if (first == '/') {
    const char second = at + 1 < code.size() ? code[at + 1] : ' ';
    if (second != '/' && second != '*') return at;
    const std::size_t end = second == '/' ? code.find('\n', at) : code.find("*/", at + 2);
    if (end == std::string_view::npos) return code.size();
    return second == '/' ? end : end + 2;
  }
  if (first == '\'' && at > 0 && in_word(code[at - 1])) return at;  // a digit separator: 1'000
  for (std::size_t i = at + 1; i < code.size(); ++i) {
    if (code[i] == '\\')
      ++i;
    else if (code[i] == first)
      return i + 1;
  }
  return code.size();
}

KERNELSEARCH_INLINE std::size_t closing(std::string_view code, std::size_t at) noexcept {
  std::size_t depth = 0;
  for (std::size_t i = at; i < code.size();) {
    if (const std::size_t next = skip_opaque(code, i); next != i) {
      i = next;
      continue;
    }
    if (code[i] == '(' || code[i] == '[' || code[i] == '{') ++depth;
    if ((code[i] == ')' || code[i] == ']' || code[i] == '}') && --depth == 0) return i;
    ++i;
  }
  return std::string_view::npos;
}

/// Calls `f(begin, end)` for each occurrence of the identifier.
template <class F>
void each_mention(std::string_view code, std::string_view identifier, F f) {
  for (std::size_t i = 0; i < code.size();) {
    if (const std::size_t next = skip_opaque(code, i); next != i) {
      i = next;
      continue;
    }
    if (!in_word(code[i])) {
      ++i;
      continue;
    }
    std::size_t end = i;
    while (end < code.size() && in_word(code[end])) ++end;
    const bool member = (i >= 1 && code[i - 1] == '.') || (i >= 2 && code.substr(i - 2, 2) == "->");
    if (!member && code.substr(i, end - i) == identifier) f(i, end);
    i = end;
  }
}

KERNELSEARCH_INLINE bool mentions(std::string_view code, std::string_view identifier) {
  bool found = false;
  each_mention(code, identifier, [&found](std::size_t, std::size_t) { found = true; });
  return found;
}

KERNELSEARCH_INLINE std::string replaced(std::string_view code, std::string_view identifier,
                                         std::string_view replacement) {
  std::string result;
  std::size_t copied = 0;
  each_mention(code, identifier, [&](std::size_t begin, std::size_t end) {
    result += code.substr(copied, begin - copied);
    result += replacement;
    copied = end;
  });
  result += code.substr(copied);
  return result;
}

/// The first place from `at` on that is neither blank nor comment.
inline std::size_t next_code(std::string_view code, std::size_t at) {
  while (at < code.size()) {
    if (is_blank(code[at]))
      ++at;
    else if (code.substr(at, 2) == "//" || code.substr(at, 2) == "/*")
      at = skip_opaque(code, at);
    else
      break;
  }
  return at;
}

/// One past the statement that begins at `at`; npos where it does not end.
inline std::size_t statement_end(std::string_view code, std::size_t at) {
  at = next_code(code, at);
  while (at < code.size() && code[at] == '#') at = next_code(code, code.find('\n', at));
  if (at >= code.size()) return std::string_view::npos;
  if (code[at] == '{') {
    const std::size_t close = closing(code, at);
    return close == std::string_view::npos ? close : close + 1;
  }
  if (code.substr(at, 3) == "for" && !in_word(at + 3 < code.size() ? code[at + 3] : ' ')) {
    const std::size_t open = code.find('(', at);
    const std::size_t close = open == std::string_view::npos ? open : closing(code, open);
    return close == std::string_view::npos ? close : statement_end(code, close + 1);
  }
  for (std::size_t i = at; i < code.size();) {
    if (const std::size_t next = skip_opaque(code, i); next != i) {
      i = next;
    } else if (code[i] == ';') {
      return i + 1;
    } else if (code[i] == '(' || code[i] == '[' || code[i] == '{') {
      const std::size_t close = closing(code, i);
      if (close == std::string_view::npos) return close;
      i = close + 1;
    } else {
      ++i;
    }
  }
  return std::string_view::npos;
}

/// A line `// WORD: NAME`, ignoring what follows the name. Gives name and the place after the line.
inline std::optional<std::pair<std::string, std::size_t>> marker_at(std::string_view source, std::size_t line,
                                                                    std::string_view word) {
  std::size_t end = source.find('\n', line);
  if (end == std::string_view::npos) end = source.size();
  std::string_view text = trimmed(source.substr(line, end - line));
  if (text.substr(0, 2) != "//") return std::nullopt;
  text = trimmed(text.substr(2));
  if (text.substr(0, word.size()) != word || text.substr(word.size(), 1) != ":") return std::nullopt;
  text = trimmed(text.substr(word.size() + 1));
  std::size_t length = 0;
  while (length < text.size() && in_word(text[length])) ++length;
  if (length == 0) return std::nullopt;
  return std::pair(std::string(text.substr(0, length)), std::min(end + 1, source.size()));
}

/// Fills in the header of the loop from the text between the parentheses; false where it has another form.
inline bool read_header(std::string_view header, MarkedLoop& loop) {
  const std::size_t first = header.find(';'), second = header.find(';', first + 1);
  if (first == std::string_view::npos || second == std::string_view::npos) return false;
  const std::string_view init = header.substr(0, first);
  const std::string_view condition = trimmed(header.substr(first + 1, second - first - 1));
  const std::string_view step = trimmed(header.substr(second + 1));
  const std::size_t equals = init.find('=');
  if (equals == std::string_view::npos) return false;
  const std::string_view declared = trimmed(init.substr(0, equals));
  std::size_t name = declared.size();
  while (name > 0 && in_word(declared[name - 1])) --name;
  loop.type = trimmed(declared.substr(0, name));
  loop.variable = declared.substr(name);
  loop.first = trimmed(init.substr(equals + 1));
  if (loop.type.empty() || loop.variable.empty() || loop.first.find(',') != std::string::npos) return false;
  if (condition.substr(0, loop.variable.size()) != loop.variable) return false;
  const std::string_view relation = trimmed(condition.substr(loop.variable.size()));
  if (relation.empty() || relation[0] != '<' || relation.substr(0, 2) == "<=" ||
      relation.substr(0, 2) == "<<")
    return false;
  loop.last = trimmed(relation.substr(1));
  if (step == "++" + loop.variable || step == loop.variable + "++") {
    loop.step = "1";
    return true;
  }
  if (step.substr(0, loop.variable.size()) != loop.variable) return false;
  const std::string_view added = trimmed(step.substr(loop.variable.size()));
  if (added.substr(0, 2) != "+=") return false;
  loop.step = trimmed(added.substr(2));
  return !loop.step.empty();
}

}  // namespace detail

KERNELSEARCH_INLINE std::vector<MarkedLoop> marked_loops(std::string_view source) {
  std::vector<MarkedLoop> loops;
  for (std::size_t line = 0; line < source.size();) {
    const std::size_t newline = source.find('\n', line);
    const std::size_t next = newline == std::string_view::npos ? source.size() : newline + 1;
    if (const auto marker = detail::marker_at(source, line, "loop")) {
      MarkedLoop loop;
      loop.name = marker->first;
      loop.marker = line;
      loop.directives = marker->second;
      std::size_t at = loop.directives;
      while (at < source.size() && (detail::is_blank(source[at]) || source[at] == '#')) {
        if (source[at] == '#') at = std::min(source.find('\n', at), source.size() - 1);
        ++at;
      }
      loop.begin = at;
      const std::size_t open = detail::next_code(source, at + 3);
      if (source.substr(std::min(at, source.size()), 3) == "for" && open < source.size() &&
          source[open] == '(') {
        const std::size_t close = detail::closing(source, open);
        if (close != std::string_view::npos &&
            detail::read_header(source.substr(open + 1, close - open - 1), loop)) {
          loop.body = close + 1;
          loop.end = detail::statement_end(source, loop.body);
          if (loop.end != std::string_view::npos) loops.push_back(std::move(loop));
        }
      }
    }
    line = next;
  }
  return loops;
}

KERNELSEARCH_INLINE std::vector<MarkedFunction> marked_functions(std::string_view source) {
  std::vector<MarkedFunction> functions;
  for (std::size_t line = 0; line < source.size();) {
    const std::size_t newline = source.find('\n', line);
    const std::size_t next = newline == std::string_view::npos ? source.size() : newline + 1;
    if (const auto marker = detail::marker_at(source, line, "function")) {
      const std::size_t open = source.find('(', marker->second);
      const std::size_t close = open == std::string_view::npos ? open : detail::closing(source, open);
      const std::size_t brace =
          close == std::string_view::npos ? close : detail::next_code(source, close + 1);
      if (brace < source.size() && source[brace] == '{')
        functions.push_back({marker->first, open + 1, close, brace + 1});
    }
    line = next;
  }
  return functions;
}

}  // namespace kernelsearch
