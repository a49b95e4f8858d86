// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/agents/quoted_text.hpp"

#include <algorithm>
#include <cstdint>

namespace kernelsearch {
namespace {

/// Bytes of the character that begins at `at`; 0 where none that UTF-8 allows does.
std::size_t character_at(std::string_view text, std::size_t at) {
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

bool continues(char c) {
  return (static_cast<std::uint8_t>(c) & 0xc0) == 0x80;
}

}  // namespace

std::string clean_text(std::string_view text) {
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
    const std::size_t length = character_at(text, at);
    const char c = text[at];
    if (length == 1 && (c == '\r' || c == '\f' || c == '\v')) {
      if (c != '\r') clean += ' ';
    } else if (length == 0 ||
               (length == 1 && ((static_cast<std::uint8_t>(c) < 32 && c != '\n' && c != '\t') || c == 127))) {
      clean += replacement;
    } else {
      clean += text.substr(at, length);
    }
    at += std::max<std::size_t>(length, 1);
  }
  return clean;
}

std::string shortened(std::string_view text, std::size_t limit) {
  limit = std::max<std::size_t>(limit, 100);
  if (text.size() <= limit) return std::string(text);
  const std::size_t kept = limit - 60;  // what the line between may take
  std::size_t head = kept * 2 / 3, tail = text.size() - kept / 3;
  while (head > 0 && continues(text[head])) --head;
  while (tail < text.size() && continues(text[tail])) ++tail;
  std::string result(text.substr(0, head));
  result += "\n[... " + std::to_string(tail - head) + " bytes left out ...]\n";
  result += text.substr(tail);
  return result;
}

std::string quoted(std::string_view text, std::string_view label, std::size_t limit) {
  const std::string content = shortened(clean_text(text), limit);
  std::size_t longest = 2, run = 0;
  for (const char c : content) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  const std::string fence(longest + 1, '`');
  std::string result = fence;
  result += label;
  result += '\n';
  result += content;
  if (content.empty() || content.back() != '\n') result += '\n';
  return result + fence;
}

}  // namespace kernelsearch
