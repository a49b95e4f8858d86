// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/core/clean_text.hpp"

#include <doctest/doctest.h>

#include <string>

#include "kernelsearch/core/outcome.hpp"

using namespace kernelsearch;

// That the result is valid UTF-8 whatever comes in: tests/agents/quoted_text_test.cpp.
TEST_CASE("clean_text: nothing that commands a terminal is left, everything else is") {
  const std::string no = "\xef\xbf\xbd";
  CHECK(clean_text("a\tb\n\xc3\xa4 \xe2\x82\xac \xe2\x80\xa6") == "a\tb\n\xc3\xa4 \xe2\x82\xac \xe2\x80\xa6");
  CHECK(clean_text("\x1b]0;title\x07") == no + "]0;title" + no);
  CHECK(clean_text("\x08\x7f") == no + no);
  CHECK(clean_text("\xc2\x9b"
                   "31m") == no + "31m");       // one character that some terminals take for ESC [
  CHECK(clean_text("\xc2\xa0") == "\xc2\xa0");  // the first that is none
  CHECK(clean_text("\xe2\x80\xae") == no);      // from right to left
  CHECK(clean_text("\xe2\x81\xa6\xe2\x81\xa9") == no + no);  // an isolate and its end
  CHECK(clean_text("\xe2\x80\xaf\xe2\x81\xaa") == "\xe2\x80\xaf\xe2\x81\xaa");
}

TEST_CASE("Evaluation: a reason is clean whatever it quotes") {
  CHECK(Evaluation::failed(Verdict::build_failed, "\x1b[2Jgone").reason == "\xef\xbf\xbd[2Jgone");
}
