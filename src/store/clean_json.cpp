// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/store/clean_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "kernelsearch/core/clean_text.hpp"
#include "kernelsearch/core/impl/utf8.hpp"

namespace kernelsearch {
namespace {

/// The code point of the character, of one to four bytes.
std::uint32_t code_point(std::string_view character) {
  const auto byte = [&](std::size_t i) {
    return static_cast<std::uint32_t>(static_cast<std::uint8_t>(character[i]));
  };
  if (character.size() == 1) return byte(0);
  std::uint32_t code = byte(0) & (0xffU >> (character.size() + 1));
  for (std::size_t i = 1; i < character.size(); ++i) code = code << 6 | (byte(i) & 0x3f);
  return code;
}

}  // namespace

std::string clean_json(std::string_view text) {
  std::string clean;
  clean.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;  // of what is plain, which is most of it
    while (end < text.size() && ((text[end] >= ' ' && text[end] < 127) || text[end] == '\n')) ++end;
    clean += text.substr(at, end - at);
    at = end;
    if (at == text.size()) break;
    ++end;  // of the character
    while (end < text.size() && detail::continues_utf8(text[end])) ++end;
    const std::string_view character = text.substr(at, end - at);
    if (clean_text(character) == character || character == "\r") {
      clean += character;
    } else {
      clean += fmt::format("\\u{:04x}", code_point(character) & 0xffffU);
    }
    at = end;
  }
  return clean;
}

}  // namespace kernelsearch
