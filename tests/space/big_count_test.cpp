// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/space/big_count.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <string>

#include "support/approx.hpp"

using kernelsearch::BigCount;
using kernelsearch::Rng;
using kernelsearch::test::approx;

TEST_CASE("BigCount: arithmetic beyond 64 bits") {
  const BigCount max = ~std::uint64_t{0};
  CHECK((max + 1).to_string() == "18446744073709551616");
  CHECK((max * max).to_string() == "340282366920938463426481119284349108225");
  CHECK((max * max - max * max).is_zero());
  CHECK((max + 1 - 1) == max);
  CHECK_FALSE((max + 1).fits_u64());
  CHECK((max + 1 - 1).fits_u64());
  CHECK(max < max + 1);
  CHECK(max * 2 > max);
  CHECK((max * max).to_double() == approx(3.402823669209385e38));
  CHECK(BigCount().to_string() == "0");
  BigCount factorial = 1;
  for (std::uint64_t i = 2; i <= 30; ++i) factorial *= i;
  CHECK(factorial.to_string() == "265252859812191058636308480000000");
}

TEST_CASE("BigCount: quotient times divisor plus rest is the number") {
  Rng rng(6);
  const auto random = [&](std::uint64_t limbs) {
    BigCount value = rng();
    for (std::uint64_t i = 1; i < limbs; ++i) value = value * (BigCount(~std::uint64_t{0}) + 1) + rng();
    return value;
  };
  for (int i = 0; i < 300; ++i) {
    const BigCount value = random(1 + rng.below(4)), divisor = random(1 + rng.below(3)) + 1;
    const auto [quotient, rest] = BigCount::divide(value, divisor);
    CHECK(rest < divisor);
    CHECK(quotient * divisor + rest == value);
  }
}

TEST_CASE("BigCount: draws stay below the bound and reach its upper half") {
  Rng rng(8);
  const BigCount bound = BigCount(~std::uint64_t{0}) * 3;
  int upper = 0;
  for (int i = 0; i < 1000; ++i) {
    const BigCount draw = BigCount::draw_below(rng, bound);
    REQUIRE(draw < bound);
    upper += draw * 2 >= bound ? 1 : 0;
  }
  CHECK(std::abs(upper - 500) < 70);
}
