// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace kernelsearch::detail {

/// The text with `?` for every byte that is no UTF-8: compilers and kernels print such, and requests are
/// JSON.
inline std::string valid_utf8(std::string_view text) {
  std::string valid;
  valid.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const auto lead = static_cast<unsigned char>(text[at]);
    const std::size_t length = lead < 0x80                   ? 1
                               : lead >= 0xc2 && lead < 0xe0 ? 2
                               : lead >= 0xe0 && lead < 0xf0 ? 3
                               : lead >= 0xf0 && lead < 0xf5 ? 4
                                                             : 0;
    bool fine = length > 0 && at + length <= text.size();
    for (std::size_t i = 1; fine && i < length; ++i) {
      const auto next = static_cast<unsigned char>(text[at + i]);
      // Of the second byte also: no longer form than needed, no surrogates, nothing beyond U+10FFFF.
      const unsigned low = i > 1 ? 0x80u : lead == 0xe0 ? 0xa0u : lead == 0xf0 ? 0x90u : 0x80u;
      const unsigned high = i > 1 ? 0xbfu : lead == 0xed ? 0x9fu : lead == 0xf4 ? 0x8fu : 0xbfu;
      fine = next >= low && next <= high;
    }
    if (fine)
      valid += text.substr(at, length);
    else
      valid += '?';
    at += fine ? length : 1;
  }
  return valid;
}

/// The text between fences longer than any that it holds, so that it cannot end them.
inline std::string fenced(std::string_view given) {
  const std::string text = valid_utf8(given);
  std::string fence = "```";
  while (text.find(fence) != std::string::npos) fence += '`';
  std::string whole = fence;
  (whole += '\n') += text;
  if (text.empty() || text.back() != '\n') whole += '\n';
  return whole += fence;
}

/// At most `most` bytes of it, whole UTF-8 characters, and a note where something is missing.
inline std::string shortened(std::string text, std::size_t most) {
  if (text.size() <= most) return text;
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xc0) == 0x80) --most;
  text.resize(most);
  return text + "\n[... cut]";
}

}  // namespace kernelsearch::detail
