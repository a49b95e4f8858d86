// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "kernelsearch/core/clean_text.hpp"

namespace kernelsearch {
namespace detail {

/// Bytes of the character that begins at `at`; 0 where none that UTF-8 allows does.
inline std::size_t character_at(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  const std::uint8_t lead = byte(at);
  if (lead < 0x80) return 1;
  const std::size_t length = lead >= 0xc2 && lead < 0xe0   ? 2
                             : lead >= 0xe0 && lead < 0xf0 ? 3
                             : lead >= 0xf0 && lead < 0xf5 ? 4
                                                           : 0;
  if (length == 0 || at + length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((byte(at + i) & 0xc0) != 0x80) return 0;
  const std::uint8_t second = byte(at + 1);
  // Too long an encoding, a surrogate, beyond U+10FFFF.
  if ((lead == 0xe0 && second < 0xa0) || (lead == 0xed && second >= 0xa0) ||
      (lead == 0xf0 && second < 0x90) || (lead == 0xf4 && second >= 0x90))
    return 0;
  return length;
}

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
  constexpr std::string_view replacement = "\xef\xbf\xbd";
  std::string clean;
  clean.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    // Most of it is plain, and taken over in one piece.
    std::size_t end = at;
    while (end < text.size() && ((text[end] >= ' ' && text[end] < 127) || text[end] == '\n')) ++end;
    clean += text.substr(at, end - at);
    at = end;
    if (at == text.size()) break;
    const std::size_t length = detail::character_at(text, at);
    const char c = text[at];
    if (length == 1 && (c == '\r' || c == '\f' || c == '\v')) {
      if (c != '\r') clean += ' ';
    } else if (length == 0 ||
               (length == 1 && ((static_cast<std::uint8_t>(c) < 32 && c != '\n' && c != '\t') || c == 127)) ||
               detail::commands_a_terminal(text.substr(at, length))) {
      clean += replacement;
    } else {
      clean += text.substr(at, length);
    }
    at += std::max<std::size_t>(length, 1);
  }
  return clean;
}

}  // namespace kernelsearch
