// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "kernelsearch/core/clean_text.hpp"
#include "kernelsearch/core/impl/utf8.hpp"

namespace kernelsearch {
namespace detail {

/// Whether the character, of two bytes or more, is one of the control characters U+0080 to U+009F, which some
/// terminals obey, or turns the direction of writing (U+202A to U+202E, U+2066 to U+2069).
inline bool commands_a_terminal(std::string_view character) {
  if (character.size() == 2) return character[0] == '\xc2' && static_cast<std::uint8_t>(character[1]) < 0xa0;
  if (character.size() != 3 || character[0] != '\xe2') return false;
  const auto last = static_cast<std::uint8_t>(character[2]);
  return (character[1] == '\x80' && last >= 0xaa && last <= 0xae) ||
         (character[1] == '\x81' && last >= 0xa6 && last <= 0xa9);
}

}  // namespace detail

KERNELSEARCH_INLINE std::string clean_text(std::string_view text) {
  std::string clean;
  clean.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    // Most of it is plain, and taken over in one piece.
    std::size_t end = at;
    while (end < text.size() && ((text[end] >= ' ' && text[end] < 127) || text[end] == '\n')) ++end;
    clean += text.substr(at, end - at);
    at = end;
    if (at == text.size()) break;
    const std::size_t length = detail::utf8_length(text, at);
    const char c = text[at];
    if (length == 1 && (c == '\r' || c == '\f' || c == '\v')) {
      if (c != '\r') clean += ' ';
    } else if (length == 0 ||
               (length == 1 && ((static_cast<std::uint8_t>(c) < 32 && c != '\n' && c != '\t') || c == 127)) ||
               detail::commands_a_terminal(text.substr(at, length))) {
      clean += detail::utf8_replacement;
    } else {
      clean += text.substr(at, length);
    }
    at += std::max<std::size_t>(length, 1);
  }
  return clean;
}

}  // namespace kernelsearch
