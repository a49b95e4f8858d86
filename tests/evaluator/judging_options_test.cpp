// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/evaluator/judging_options.hpp"

#include <doctest/doctest.h>

using namespace kernelsearch;

TEST_CASE("judging options: what is not said is strict enough to trust a verdict") {
  const CheckOptions check;
  CHECK(check.seeds >= 2);  // one set of inputs could be guessed or right by chance
  CHECK(check.edge);
  CHECK(check.ill_conditioned);
  const PairOptions pairs;
  CHECK(pairs.when == Pairing::improved);
  CHECK(pairs.min_pairs >= 6);  // fewer have no interval
  CHECK(pairs.max_pairs >= pairs.min_pairs);
}
