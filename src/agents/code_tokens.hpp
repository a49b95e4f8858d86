// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "kernelsearch/core/impl/text.hpp"
#include "kernelsearch/generator/marked_loops.hpp"

namespace kernelsearch::detail {

/// A token of C++ and where it stands: a word, a literal, `::`, `&&`, `[[`, `]]`, or one other character.
struct CodeToken {
  std::size_t begin = 0;
  std::string_view text;
};

/// The tokens of the code without its comments.
[[nodiscard]] inline std::vector<CodeToken> code_tokens(std::string_view code) {
  std::vector<CodeToken> tokens;
  for (std::size_t i = 0; i < code.size();) {
    if (blanks.find(code[i]) != std::string_view::npos) {
      ++i;
      continue;
    }
    std::size_t end = skip_opaque(code, i);
    if (end != i && code[i] == '/') {
      i = end;
      continue;
    }
    if (end == i) {
      end = i + 1;
      if (in_word(code[i]))
        while (end < code.size() && in_word(code[end])) ++end;
      else if (const std::string_view two = code.substr(i, 2);
               two == "::" || two == "&&" || two == "[[" || two == "]]")
        end = i + 2;
    }
    tokens.push_back({i, code.substr(i, end - i)});
    i = end;
  }
  return tokens;
}

/// Whether the texts are the same code, however they are commented and laid out.
[[nodiscard]] inline bool same_tokens(const std::vector<CodeToken>& a, const std::vector<CodeToken>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (a[i].text != b[i].text) return false;
  return true;
}

}  // namespace kernelsearch::detail
