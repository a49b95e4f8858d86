// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "problem/percent_decoded.hpp"

#include <doctest/doctest.h>

using kernelsearch::detail::percent_decoded;

TEST_CASE("percent_decoded: bytes as they were meant, what is malformed as it is") {
  CHECK(percent_decoded("a%2") == "a%2");
  CHECK(percent_decoded("%41%zz%") == "A%zz%");
  CHECK(percent_decoded("%2B+%c3%A9") == "++\xc3\xa9");
  CHECK(percent_decoded("%-1%+1") == "%-1%+1");
}
