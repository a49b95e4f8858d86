// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/llm/prices.hpp"

#include <doctest/doctest.h>

#include "support/approx.hpp"

using namespace kernelsearch;
using kernelsearch::test::approx;

TEST_CASE("Prices: cached input has its own price, or that of input") {
  TokenUsage usage;
  usage.input = 1'000'000;
  usage.cached = 400'000;
  usage.cache_written = 100'000;
  usage.output = 200'000;
  CHECK(Prices{3, 15, 0.3, 3.75}.cost(usage) == approx(0.5 * 3 + 0.4 * 0.3 + 0.1 * 3.75 + 0.2 * 15));
  CHECK(Prices{3, 15}.cost(usage) == approx(3 + 3));
  usage.input = 0;  // a provider that counts badly costs no negative money
  CHECK(Prices{3, 0, 0, 0}.cost(usage) == 0.0);
}
