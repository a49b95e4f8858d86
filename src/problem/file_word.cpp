// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/problem/file_word.hpp"

#include "kernelsearch/core/impl/text.hpp"

namespace kernelsearch {

std::string file_word(std::string_view text) {
  constexpr std::size_t most = 100;
  std::string word;
  for (const char c : text.substr(0, most)) {
    const bool stays = detail::in_word(c) || c == '+' || (!word.empty() && (c == '-' || c == '.'));
    word += stays ? c : '_';
  }
  return word.empty() ? "_" : word;
}

}  // namespace kernelsearch
