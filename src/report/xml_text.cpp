// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "xml_text.hpp"

#include "kernelsearch/core/clean_text.hpp"

namespace kernelsearch {
namespace {

/// Bytes of the valid UTF-8 character that text begins with, 0 where there is none.
std::size_t character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xc2 && first < 0xe0   ? 2
                             : first >= 0xe0 && first < 0xf0 ? 3
                             : first >= 0xf0 && first < 0xf5 ? 4
                                                             : 0;
  if (length == 0 || length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xc0) != 0x80) return 0;
  const unsigned char second = byte(1);
  if (first == 0xe0 && second < 0xa0) return 0;                      // longer than need be
  if (first == 0xed && second >= 0xa0) return 0;                     // surrogates
  if (first == 0xef && second == 0xbf && byte(2) >= 0xbe) return 0;  // U+FFFE, U+FFFF
  if (first == 0xf0 && second < 0x90) return 0;
  if (first == 0xf4 && second >= 0x90) return 0;
  return length;
}

/// How markup writes the character; empty where it stands for itself.
std::string_view escape_of(char c) {
  switch (c) {
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '"':
      return "&quot;";
    case '\'':
      return "&#39;";
    default:
      return {};
  }
}

}  // namespace

std::string html_text(std::string_view text) {
  std::string html;
  for (const char c : clean_text(text)) {
    if (const std::string_view escape = escape_of(c); !escape.empty())
      html += escape;
    else
      html += c;
  }
  return html;
}

std::string xml_text(std::string_view text) {
  std::string xml;
  while (!text.empty()) {
    const std::size_t length = character(text);
    const char c = text.front();
    if (length > 1)
      xml += text.substr(0, length);
    else if (length == 0)
      xml += '?';
    else if (const std::string_view escape = escape_of(c); !escape.empty())
      xml += escape;
    else if (c == '\n' || c == '\t' || c == '\r')
      xml += ' ';
    else
      xml += static_cast<unsigned char>(c) < 0x20 ? '?' : c;
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return xml;
}

}  // namespace kernelsearch
