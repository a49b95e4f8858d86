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
