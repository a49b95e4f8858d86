// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/core/random_order.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>
#include <vector>

using namespace kernelsearch;

TEST_CASE("RandomOrder: holds each value once, for every size") {
  Rng rng(1);
  for (std::uint64_t size = 1; size < 300; ++size) {
    const RandomOrder order(size, rng);
    std::vector<int> seen(size, 0);
    for (std::uint64_t i = 0; i < size; ++i) {
      REQUIRE(order[i] < size);
      ++seen[order[i]];
    }
    for (const int count : seen) REQUIRE(count == 1);
  }
}

TEST_CASE("RandomOrder: the first place is even over the range") {
  Rng rng(2);
  std::vector<int> counts(10, 0);
  for (int i = 0; i < 20000; ++i) ++counts[RandomOrder(10, rng)[0]];
  for (const int count : counts) CHECK(std::abs(count - 2000) < 250);
}

TEST_CASE("RandomOrder: works close to 2^64") {
  Rng rng(3);
  const RandomOrder order(~std::uint64_t{0}, rng);
  CHECK(order[0] != order[1]);
}
