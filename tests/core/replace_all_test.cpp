// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/core/replace_all.hpp"

#include <doctest/doctest.h>

TEST_CASE("replace_all: each one once, also where what is put in holds what is looked for") {
  std::string text = "${A} and ${A}, not $A";
  kernelsearch::detail::replace_all(text, "${A}", "x${A}");
  CHECK(text == "x${A} and x${A}, not $A");
  kernelsearch::detail::replace_all(text, "and ", "");
  CHECK(text == "x${A} x${A}, not $A");
}
