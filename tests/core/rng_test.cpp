// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/core/rng.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

using kernelsearch::Rng;

TEST_CASE("Rng: the first draws of seed 0 are those of xoshiro256** seeded by SplitMix64") {
  Rng rng(0);  // values of the authors' reference code
  CHECK(rng() == 0x99ec5f36cb75f2b4ULL);
  CHECK(rng() == 0xbf6e1f784956452aULL);
}

TEST_CASE("Rng: bounded draws stay in range and reach every value evenly") {
  Rng rng(7);
  std::vector<int> counts(10, 0);
  for (int i = 0; i < 100000; ++i) ++counts.at(rng.below(10));
  for (const int count : counts) CHECK(std::abs(count - 10000) < 500);
}

TEST_CASE("Rng: streams of different roles differ, of the same role agree") {
  Rng a = Rng::stream(1, "policy"), b = Rng::stream(1, "policy"), c = Rng::stream(1, "generator");
  const auto first = a();
  CHECK(first == b());
  CHECK(first != c());
}

TEST_CASE("Rng: uniform lies in [0, 1) and normal has mean 0 and variance 1") {
  Rng rng(3);
  double sum = 0, squares = 0;
  for (int i = 0; i < 100000; ++i) {
    const double u = rng.uniform();
    REQUIRE(u >= 0.0);
    REQUIRE(u < 1.0);
    const double z = rng.normal();
    sum += z;
    squares += z * z;
  }
  CHECK(std::abs(sum / 100000) < 0.02);
  CHECK(std::abs(squares / 100000 - 1) < 0.03);
}

TEST_CASE("Rng: shuffle keeps the elements") {
  Rng rng(5);
  std::vector<int> values(50);
  std::iota(values.begin(), values.end(), 0);
  auto shuffled = values;
  rng.shuffle(shuffled);
  CHECK(shuffled != values);
  std::sort(shuffled.begin(), shuffled.end());
  CHECK(shuffled == values);
}
