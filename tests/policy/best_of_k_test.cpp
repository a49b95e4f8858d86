// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/policy/best_of_k.hpp"

#include <doctest/doctest.h>

#include "support/move_policy_contract.hpp"

using namespace kernelsearch;

namespace {
const auto make_best_of_k = [](std::vector<std::string> strategies, std::uint64_t seed) {
  return BestOfK({.strategies = std::move(strategies), .seed = seed, .k = 12, .climb = true});
};
}

TEST_CASE("BestOfK: keeps the contract of policies over moves") {
  static_assert(SearchPolicy<BestOfK>);
  move_policy_contract::check(make_best_of_k);
}

TEST_CASE("BestOfK: samples the root and ends, or climbs from the best") {
  move_policy_contract::World world(6, 99);
  BestOfK plain({.strategies = move_policy_contract::World::strategies(), .seed = 1, .k = 7});
  const move_policy_contract::Record record = move_policy_contract::drive(plain, world, 3, 1);
  REQUIRE(record.moves.size() == 8);
  for (std::size_t i = 1; i < 8; ++i) CHECK(record.moves[i].parents == std::vector<TrialId>{TrialId{0}});

  move_policy_contract::World other(6, 99);
  BestOfK climbing(
      {.strategies = move_policy_contract::World::strategies(), .seed = 1, .k = 6, .climb = true});
  const move_policy_contract::Record climbed = move_policy_contract::drive(climbing, other, 3, 1, 40);
  CHECK(climbed.best < 0.3);
  CHECK(climbing.ask(50).size() <= 6);
}
