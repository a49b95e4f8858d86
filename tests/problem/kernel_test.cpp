// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/problem/kernel.hpp"

#include <doctest/doctest.h>

using namespace kernelsearch;

TEST_CASE("Kernel: without tunables it has one configuration") {
  const Kernel kernel;
  CHECK(kernel.space.size() == 0);
  CHECK(kernel.space.count() == BigCount(1));
  CHECK(kernel.space.contains(Config{}));
}

TEST_CASE("Regions: equal where all three texts are") {
  const Regions regions{"d", "h", "m"};
  CHECK(regions == Regions{"d", "h", "m"});
  CHECK(regions != Regions{"x", "h", "m"});
  CHECK(regions != Regions{"d", "x", "m"});
  CHECK(regions != Regions{"d", "h", "x"});
}
