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

/// Whether names of C++ and of expressions begin with such a character: a letter of ASCII or an underscore,
/// in every locale.
constexpr bool begins_word(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
/// Whether it can be within such a name: digits too.
constexpr bool in_word(char c) noexcept {
  return begins_word(c) || (c >= '0' && c <= '9');
}
/// A letter of ASCII or a digit.
constexpr bool is_alphanumeric(char c) noexcept {
  return in_word(c) && c != '_';
}

/// Whether the whole text is such a name.
[[nodiscard]] constexpr bool is_identifier(std::string_view text) noexcept {
  if (text.empty() || !begins_word(text.front())) return false;
  for (const char c : text)
    if (!in_word(c)) return false;
  return true;
}

/// Whether the text is a name of our files and stores: 1 to 64 lower-case letters, digits and underscores.
[[nodiscard]] constexpr bool is_lower_name(std::string_view text) noexcept {
  if (text.empty() || text.size() > 64) return false;
  for (const char c : text)
    if (!in_word(c) || (c >= 'A' && c <= 'Z')) return false;
  return true;
}

/// Whether the text has the word as an identifier of its own, not as a part of a longer one.
[[nodiscard]] constexpr bool has_whole_word(std::string_view text, std::string_view word) noexcept {
  for (std::size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || !in_word(text[at - 1])) && (end == text.size() || !in_word(text[end]))) return true;
  }
  return false;
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
