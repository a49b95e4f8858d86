// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/policy/seeded.hpp"

#include <doctest/doctest.h>

#include "kernelsearch/optimizer/optimizer.hpp"
#include "kernelsearch/policy/any_policy.hpp"
#include "support/scripted.hpp"

using namespace kernelsearch;
using namespace scripted;

TEST_CASE("Seeded: the first runs to its end, then the second, which knows what the first found") {
  static_assert(SearchPolicy<Seeded<Counting, Counting>>);
  for (const std::size_t in_flight : {1u, 3u}) {
    Optimizer search{Seeded(Counting{.last = 5}, Counting{.last = 4}),
                     Copying{.twins = 2},
                     Landscape{},
                     {.in_flight = in_flight}};
    search.run();
    REQUIRE(search.trials().size() == 5 + 3 + 4 + 2);
    const auto& first = search.policy().first().told;
    const auto& second = search.policy().second().told;
    CHECK(first.size() == 8);
    REQUIRE(second.size() == 14);
    for (std::size_t i = 0; i < 8; ++i) CHECK_FALSE(second[i].outcome.origin.has_value());
    CHECK(second[8].outcome.origin == Origin{ProposalId{0}, 0, 2});
    CHECK(second[10].outcome.origin == Origin{ProposalId{1}, 0, 1});
  }
}

TEST_CASE("AnyPolicy: behaves as the policy it holds") {
  Optimizer search{AnyPolicy<int>(Counting{.last = 9}), Copying{}, Landscape{}};
  CHECK(search.run().trials == 9);
  static_assert(AwaitingPolicy<AnyPolicy<int>>);
}
