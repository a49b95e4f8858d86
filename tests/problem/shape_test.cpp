// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/problem/shape.hpp"

#include <doctest/doctest.h>

using namespace kernelsearch;

TEST_CASE("Shape: counts once unless it says otherwise") {
  const Shape shape;
  CHECK(shape.weight == 1.0);
  CHECK(shape.variables.empty());
}
