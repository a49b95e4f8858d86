// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/policy/method.hpp"

#include <doctest/doctest.h>

using namespace kernelsearch;

TEST_CASE("a method asks for nothing unless it says so") {
  const Method method;
  CHECK(method.axis == Axis::compute);
  CHECK(method.priority == 1);
  CHECK(method.architecture == 0);
  CHECK(!method.trigger);
  CHECK(!method.skip);
  CHECK(!method.strength);
  CHECK(method.signature.empty());
}
