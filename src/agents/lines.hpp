// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "kernelsearch/core/impl/text.hpp"

namespace kernelsearch::detail {

/// The lines without their newlines; a newline at the end begins no further line.
[[nodiscard]] inline std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    lines.push_back(text.substr(0, end));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return lines;
}

/// The text with blanks at the ends of lines, and empty lines at both ends, taken away.
[[nodiscard]] inline std::string without_trailing_blanks(std::string_view text) {
  std::string result;
  for (const std::string_view line : lines_of(text)) {
    result += trimmed_right(line);
    result += '\n';
  }
  const std::size_t begin = result.find_first_not_of('\n');
  if (begin == std::string::npos) return {};
  result.erase(0, begin);
  result.resize(result.find_last_not_of('\n') + 1);
  return result;
}

}  // namespace kernelsearch::detail
