// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/policy/random_search.hpp"

#include <doctest/doctest.h>

#include "support/policy_contract.hpp"

using namespace kernelsearch;

TEST_CASE("RandomSearch: keeps the contract of policies over spaces") {
  policy_contract::check(
      [](const Space& space, std::uint64_t seed) { return RandomSearch(space, {.seed = seed}); });
}

TEST_CASE("RandomSearch: begins with the default where asked to, and never repeats it") {
  const Space space = policy_contract::small_space();
  RandomSearch policy(space, {.seed = 3, .default_first = true});
  const auto all = policy_contract::drive(policy, space, 2, 1);
  CHECK(all.front() == space.default_config());
  CHECK(all.size() == space.count().low());
}

TEST_CASE("RandomSearch: the first proposal is uniform over the space") {
  const Space space = SpaceBuilder().add(Tunable::integer("x", 0, 9)).require("x != 4").build();
  std::vector<int> counts(10, 0);
  for (std::uint64_t seed = 0; seed < 9000; ++seed)
    ++counts[RandomSearch(space, {.seed = seed}).ask(1)[0].indices[0]];
  CHECK(counts[4] == 0);
  for (std::size_t i = 0; i < 10; ++i)
    if (i != 4) CHECK(std::abs(counts[i] - 1000) < 150);
}
