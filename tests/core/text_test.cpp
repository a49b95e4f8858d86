// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/core/impl/text.hpp"

#include <doctest/doctest.h>

#include <array>
#include <vector>

using namespace kernelsearch::detail;

TEST_CASE("trimmed: blanks of every kind at the ends go, those inside stay") {
  CHECK(trimmed(" \t\r\n\f\v a \t b\v\f\n\r\t ") == "a \t b");
  CHECK(trimmed_right(" a b \n") == " a b");
  for (const std::string_view nothing : {"", " ", "\n\t "}) {
    CHECK(trimmed(nothing).empty());
    CHECK(trimmed_right(nothing).empty());
  }
  CHECK(trimmed("a") == "a");
  CHECK(trimmed("\xa0") == "\xa0");  // a byte of some UTF-8 character
}

TEST_CASE("joined: texts of any kind, empty ones too") {
  CHECK(joined(std::vector<std::string>{}, ", ").empty());
  CHECK(joined(std::vector<std::string>{"a"}, ", ") == "a");
  CHECK(joined(std::vector<std::string>{"", "b", ""}, ", ") == ", b, ");
  CHECK(joined(std::array<std::string_view, 2>{"a", "b"}, "") == "ab");
  CHECK(joined(std::array{1, 2, 3}, " x ", [](int number) { return std::to_string(number); }) == "1 x 2 x 3");
}

TEST_CASE("names: letters of ASCII, digits and underscores, and what begins with no digit") {
  std::string within, beginning, alphanumeric;
  for (int byte = 0; byte < 256; ++byte) {
    const char c = static_cast<char>(byte);
    if (in_word(c)) within += c;
    if (begins_word(c)) beginning += c;
    if (is_alphanumeric(c)) alphanumeric += c;
  }
  const std::string digits = "0123456789", capitals = "ABCDEFGHIJKLMNOPQRSTUVWXYZ",
                    small = "abcdefghijklmnopqrstuvwxyz";
  CHECK(within == digits + capitals + "_" + small);
  CHECK(beginning == capitals + "_" + small);
  CHECK(alphanumeric == digits + capitals + small);
  for (const std::string_view name : {"a", "_", "A1_b"}) CHECK(is_identifier(name));
  for (const std::string_view name : {"", "1a", "a-b", "a b", "\xe9"}) CHECK_FALSE(is_identifier(name));
  CHECK(is_lower_name(std::string(64, 'a')));
  CHECK(is_lower_name("1_a"));
  for (const std::string& name : {std::string(), std::string(65, 'a'), std::string("aB"), std::string("a-b")})
    CHECK_FALSE(is_lower_name(name));
}

TEST_CASE("has_whole_word: not as a part of a longer name") {
  for (const std::string_view text : {"for", "a for", "for(", "before for", "-for+"})
    CHECK(has_whole_word(text, "for"));
  for (const std::string_view text : {"", "fo", "before", "for_", "_for", "for1", "For"})
    CHECK_FALSE(has_whole_word(text, "for"));
}
