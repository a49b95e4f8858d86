// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/core/impl/utf8.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <string>

using namespace kernelsearch;

TEST_CASE("utf8: each code point is appended as a character that is read back whole") {
  for (const std::uint32_t code :
       {0x0u, 0x41u, 0x7fu, 0x80u, 0x7ffu, 0x800u, 0xd7ffu, 0xe000u, 0xffffu, 0x10000u, 0x10ffffu}) {
    CAPTURE(code);
    std::string text = "x";
    detail::append_utf8(text, code);
    const std::size_t length = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    CHECK(text.size() == 1 + length);
    CHECK(detail::utf8_length(text, 1) == length);
    for (std::size_t at = 2; at < text.size(); ++at) CHECK(detail::continues_utf8(text[at]));
    CHECK_FALSE(detail::continues_utf8(text[1]));
    text.pop_back();
    if (length > 1) CHECK(detail::utf8_length(text, 1) == 0);
  }
  std::string euro;
  detail::append_utf8(euro, 0x20ac);
  CHECK(euro == "\xe2\x82\xac");
}

TEST_CASE("utf8: what UTF-8 does not allow is not a character") {
  for (const char* bad : {"\x80", "\xc0\x80", "\xc1\xbf", "\xe0\x9f\xbf", "\xed\xa0\x80", "\xf0\x8f\xbf\xbf",
                          "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xe2\x28\xa1", "\xe2\x82", "\xff"}) {
    CAPTURE(bad);
    CHECK(detail::utf8_length(bad) == 0);
  }
}

TEST_CASE("utf8: a text is cut between characters") {
  const std::string text =
      "a\xe2\x82\xac"
      "b";
  CHECK(detail::utf8_cut(text, 0) == 0);
  CHECK(detail::utf8_cut(text, 1) == 1);
  CHECK(detail::utf8_cut(text, 2) == 1);
  CHECK(detail::utf8_cut(text, 3) == 1);
  CHECK(detail::utf8_cut(text, 4) == 4);
  CHECK(detail::utf8_cut(text, 5) == 5);
  CHECK(detail::utf8_cut(text, 99) == 5);
  CHECK(detail::utf8_cut("\x80\x80", 1) == 0);
}
