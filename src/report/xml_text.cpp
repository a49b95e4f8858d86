// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "xml_text.hpp"

#include "kernelsearch/core/clean_text.hpp"
#include "kernelsearch/core/impl/utf8.hpp"

namespace kernelsearch {
namespace {

/// Bytes of the character that text begins with, 0 where it is not one that XML allows.
std::size_t character(std::string_view text) {
  const bool none = text.starts_with("\xef\xbf\xbe") || text.starts_with("\xef\xbf\xbf");  // U+FFFE, U+FFFF
  return none ? 0 : detail::utf8_length(text);
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
