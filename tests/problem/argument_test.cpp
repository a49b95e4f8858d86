// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/problem/argument.hpp"

#include <doctest/doctest.h>

using namespace kernelsearch;

TEST_CASE("Argument: by default an input scalar, uniform in [-1, 1) once it is an array") {
  const Argument argument;
  CHECK_FALSE(argument.is_array);
  CHECK(argument.role == Role::in);
  CHECK(argument.initialisation == Initialisation::uniform);
  CHECK(argument.low == -1.0);
  CHECK(argument.high == 1.0);
  CHECK_FALSE(argument.tolerance);
}
