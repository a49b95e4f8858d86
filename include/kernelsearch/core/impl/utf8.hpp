// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace kernelsearch::detail {

/// What stands for bytes that are not UTF-8: U+FFFD.
inline constexpr std::string_view utf8_replacement = "\xef\xbf\xbd";

/// Whether the byte continues a character that began before it.
[[nodiscard]] constexpr bool continues_utf8(char c) noexcept {
  return (static_cast<std::uint8_t>(c) & 0xc0) == 0x80;
}

/// Bytes of the character that begins at `at`; 0 where no character that UTF-8 allows does.
[[nodiscard]] constexpr std::size_t utf8_length(std::string_view text, std::size_t at = 0) noexcept {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  const std::uint8_t lead = byte(at);
  if (lead < 0x80) return 1;
  const std::size_t length = lead >= 0xc2 && lead < 0xe0   ? 2
                             : lead >= 0xe0 && lead < 0xf0 ? 3
                             : lead >= 0xf0 && lead < 0xf5 ? 4
                                                           : 0;
  if (length == 0 || length > text.size() - at) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if (!continues_utf8(text[at + i])) return 0;
  const std::uint8_t second = byte(at + 1);
  // Too long an encoding, a surrogate, beyond U+10FFFF.
  if ((lead == 0xe0 && second < 0xa0) || (lead == 0xed && second >= 0xa0) ||
      (lead == 0xf0 && second < 0x90) || (lead == 0xf4 && second >= 0x90))
    return 0;
  return length;
}

/// The greatest place up to `limit` where the text can be cut between two characters.
[[nodiscard]] constexpr std::size_t utf8_cut(std::string_view text, std::size_t limit) noexcept {
  if (limit >= text.size()) return text.size();
  while (limit > 0 && continues_utf8(text[limit])) --limit;
  return limit;
}

/// Adds the character of that code point.
inline void append_utf8(std::string& text, std::uint32_t code) {
  const auto add = [&text](std::uint32_t byte) { text += static_cast<char>(byte); };
  if (code < 0x80) {
    add(code);
    return;
  }
  if (code < 0x800) {
    add(0xc0 | (code >> 6));
  } else {
    if (code < 0x10000) {
      add(0xe0 | (code >> 12));
    } else {
      add(0xf0 | (code >> 18));
      add(0x80 | ((code >> 12) & 0x3f));
    }
    add(0x80 | ((code >> 6) & 0x3f));
  }
  add(0x80 | (code & 0x3f));
}

}  // namespace kernelsearch::detail
