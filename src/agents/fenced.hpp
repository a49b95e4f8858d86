// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace kernelsearch::detail {

/// The text between fences longer than any that it holds, so that it cannot end them.
inline std::string fenced(std::string_view text) {
  std::string fence = "```";
  while (text.find(fence) != std::string_view::npos) fence += '`';
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
