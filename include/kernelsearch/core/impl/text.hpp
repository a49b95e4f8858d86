// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace kernelsearch::detail {

inline constexpr std::string_view blanks = " \t\r\n\f\v";

/// Whether `c` is one of `blanks`; unlike std::isspace in every locale, and for every char.
constexpr bool is_blank(char c) noexcept {
  return blanks.find(c) != std::string_view::npos;
}

/// Without blanks at the end.
[[nodiscard]] constexpr std::string_view trimmed_right(std::string_view text) noexcept {
  return text.substr(0, text.find_last_not_of(blanks) + 1);
}

/// Without blanks at both ends.
[[nodiscard]] constexpr std::string_view trimmed(std::string_view text) noexcept {
  text = trimmed_right(text);
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  return text;
}

/// `text_of` each element of a range, one after another, `between` between each two.
template <class Range, class TextOf>
[[nodiscard]] std::string joined(const Range& range, std::string_view between, TextOf text_of) {
  std::string result;
  bool first = true;
  for (const auto& element : range) {
    if (!first) result += between;
    first = false;
    result += text_of(element);
  }
  return result;
}

/// The texts of a range one after another, `between` between each two.
template <class Texts>
[[nodiscard]] std::string joined(const Texts& texts, std::string_view between) {
  return joined(texts, between, [](std::string_view text) { return text; });
}

}  // namespace kernelsearch::detail
