// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "judge/stretches.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "support/approx.hpp"

using namespace kernelsearch;
using namespace kernelsearch::detail;
using kernelsearch::test::approx;

namespace {

Argument uniform(ElementType type, double low, double high) {
  Argument argument;
  argument.name = "x";
  argument.type = type;
  argument.is_array = true;
  argument.low = low;
  argument.high = high;
  return argument;
}

}  // namespace

TEST_CASE("declared_range: where 0 may be drawn, and what does not vary") {
  CHECK(declared_range(uniform(ElementType::f32, -1, 3)).zero == approx(0.25));
  CHECK(declared_range(uniform(ElementType::u8, 0, 9)).zero == 0.0);
  CHECK(!declared_range(uniform(ElementType::f32, 1, 3)).zero);
  CHECK(!declared_range(uniform(ElementType::f32, -3, 0)).zero);
  CHECK(declared_range(uniform(ElementType::f32, 1, 3)).varies);
  Argument argument = uniform(ElementType::f32, 2, 1);
  argument.initialisation = Initialisation::normal;
  CHECK(!declared_range(argument).zero);  // two deviations above it: its sign may be counted on
  argument.low = 1;
  CHECK(declared_range(argument).zero == approx(0.1587).epsilon(0.01));
  argument.exact = "a test";
  CHECK(!declared_range(argument).varies);
  for (const Initialisation how :
       {Initialisation::permutation, Initialisation::offsets, Initialisation::ill_conditioned,
        Initialisation::zeros, Initialisation::generator}) {
    argument = uniform(ElementType::f32, -1, 1);
    argument.initialisation = how;
    CHECK(!declared_range(argument).varies);
  }
}

TEST_CASE("Stretches: they cover the array, in ranks between 0 and 1, and many draws are of many kinds") {
  const DeclaredRange mixed{true, 0.5}, positive{true, std::nullopt};
  Rng rng(3);
  std::set<int> kinds;
  for (const std::size_t count : {1u, 15u, 700u, 5000u, 300000u})
    for (int draw = 0; draw < 200; ++draw)
      for (const DeclaredRange& declared : {mixed, positive}) {
        const Spread spread(declared, rng);
        Stretches all(spread, count, rng);
        std::size_t covered = 0;
        while (true) {
          const Stretch& stretch = all.next(rng);
          if (stretch.count == 0) break;
          covered += stretch.count;
          REQUIRE(stretch.outliers <= 2);
          for (const RankRange& ranks : stretch.ranks) {
            REQUIRE(ranks.from >= 0);
            REQUIRE(ranks.to <= 1);
            REQUIRE(ranks.from < ranks.to);
            // Without 0 no stretch is narrower than half of half: differences would drown in magnitudes.
            if (!declared.zero) REQUIRE(ranks.to - ranks.from >= 0.249f);
            // Around 0 where both signs may be drawn, unless the whole array has one sign.
            if (declared.zero) REQUIRE((ranks.from <= 0.5f && ranks.to >= 0.5f));
          }
          if (!declared.zero) REQUIRE(stretch.zeros == 0);
          kinds.insert(stretch.zeros != 0                     ? 1
                       : stretch.periodic                     ? 2
                       : stretch.ranks[0].to < all.whole().to ? 3
                                                              : 4);
        }
        REQUIRE(covered == count);
      }
  CHECK(kinds == std::set<int>{1, 2, 3, 4});
}

TEST_CASE("Stretches: what does not vary is one stretch of all ranks") {
  Rng rng(1);
  const Spread spread({false, 0.5}, rng);
  CHECK(!spread.varies());
  Stretches all(spread, 1000, rng);
  const Stretch first = all.next(rng);
  CHECK(first.count == 1000);
  CHECK(first.zeros == 0);
  CHECK(first.outliers == 0);
  CHECK(first.ranks[5].from == 0);
  CHECK(first.ranks[5].to == 1);
  CHECK(all.next(rng).count == 0);
}

TEST_CASE("narrowed: a part of the range that holds a value of the type") {
  const Argument real = narrowed(uniform(ElementType::f32, -1, 3), {0.25, 0.5});
  CHECK(real.low == approx(0).scale(1));
  CHECK(real.high == approx(1));
  const Argument whole = narrowed(uniform(ElementType::i32, 3, 7), {0.3f, 0.31f});
  CHECK(whole.low == 4);
  CHECK(whole.high == 5);
}
