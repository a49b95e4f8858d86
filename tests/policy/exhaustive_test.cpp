// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/policy/exhaustive.hpp"

#include <doctest/doctest.h>

#include "support/policy_contract.hpp"

using namespace kernelsearch;

TEST_CASE("Exhaustive: keeps the contract of policies over spaces") {
  policy_contract::check([](const Space& space, std::uint64_t) { return Exhaustive(space); });
}

TEST_CASE("Exhaustive: goes through the ranks in order") {
  const Space space = policy_contract::small_space();
  Exhaustive policy(space);
  const auto all = policy_contract::drive(policy, space, 1, 1);
  for (std::size_t i = 0; i < all.size(); ++i) REQUIRE(space.rank(all[i]) == BigCount(i));
}
