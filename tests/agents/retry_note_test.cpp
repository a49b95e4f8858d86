// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/agents/retry_note.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace kernelsearch;

TEST_CASE("retry note: the sentence of its line, whatever Markdown puts around it") {
  CHECK(read_retry_note("THIS TIME: the loads are wide.") == "the loads are wide.");
  CHECK(read_retry_note("Some words.\n\n> **THIS TIME:** `the loads are wide`\r\n") == "the loads are wide");
  CHECK(read_retry_note("- **THIS TIME**: the loads are wide\nand more") == "the loads are wide");
  CHECK(read_retry_note("THIS TIME: x\nTHIS TIME: the loads are wide") == "the loads are wide");
}

TEST_CASE("retry note: no line, no sentence, or one in code is none") {
  for (const char* none :
       {"", "THIS TIME", "THIS TIME:", "THIS TIME: wider loads", "this time: the loads are wide",
        "THIS TIMES: the loads are wide", "At THIS TIME: the loads are wide",
        "```cpp device\nTHIS TIME: the loads are wide\n```\n"}) {
    CAPTURE(none);
    CHECK_FALSE(read_retry_note(none).has_value());
  }
  const auto cut = read_retry_note("THIS TIME: " + std::string(300, 'a') + " b " + std::string(3000, 'c'));
  REQUIRE(cut.has_value());
  CHECK(cut->size() < 500);
}
