// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/policy/best_of_k.hpp"

#include <doctest/doctest.h>

#include "support/move_policy_contract.hpp"

using namespace kernelsearch;
using namespace move_policy_contract;

namespace {
const auto make = [](std::vector<std::string> strategies, std::uint64_t seed) {
  return BestOfK({.strategies = std::move(strategies), .seed = seed, .k = 12, .climb = true});
};
}

TEST_CASE("BestOfK: keeps the contract of policies over moves") {
  static_assert(SearchPolicy<BestOfK>);
  check(make);
}

TEST_CASE("BestOfK: samples the root and ends, or climbs from the best") {
  World world(6, 99);
  BestOfK plain({.strategies = World::strategies(), .seed = 1, .k = 7});
  const Record record = drive(plain, world, 3, 1);
  REQUIRE(record.moves.size() == 8);
  for (std::size_t i = 1; i < 8; ++i) CHECK(record.moves[i].parents == std::vector<TrialId>{TrialId{0}});

  World other(6, 99);
  BestOfK climbing({.strategies = World::strategies(), .seed = 1, .k = 6, .climb = true});
  const Record climbed = drive(climbing, other, 3, 1, 40);
  CHECK(climbed.best < 0.3);
  CHECK(climbing.ask(50).size() <= 6);
}
