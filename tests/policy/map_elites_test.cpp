// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/policy/map_elites.hpp"

#include <doctest/doctest.h>

#include "support/move_policy_contract.hpp"

using namespace kernelsearch;

namespace {
const auto make_map_elites = [](std::vector<std::string> strategies, std::uint64_t seed) {
  return MapElites({.strategies = std::move(strategies), .seed = seed});
};
}

TEST_CASE("MapElites: keeps the contract of policies over moves") {
  static_assert(SearchPolicy<MapElites>);
  move_policy_contract::check(make_map_elites);
}

TEST_CASE("MapElites: each cell keeps its fastest, by features where they are named") {
  move_policy_contract::World world(5, 9);
  MapElites policy({.strategies = move_policy_contract::World::strategies(),
                    .seed = 1,
                    .descriptors = {{"length", 6}, {"unheard of", 2}},
                    .islands = 2,
                    .migrate_every = 10});
  move_policy_contract::drive(policy, world, 1, 3, 120);
  std::size_t elites = 0;
  for (const std::size_t island : {0u, 1u})
    for (const auto& [cell, elite] : policy.archive(island)) {
      ++elites;
      REQUIRE(cell.size() == 2);
      CHECK(cell[0] < 6);
      CHECK(cell[1] == 2);  // no kernel has it
    }
  CHECK(elites >= 6);
  // The fastest of all is the elite of its cell on its island.
  const std::size_t best = *policy.tree().best();
  bool kept = false;
  for (const std::size_t island : {0u, 1u})
    for (const auto& [cell, elite] : policy.archive(island)) kept = kept || elite == best;
  CHECK(kept);
}

TEST_CASE("MapElites: the best migrates to the next island") {
  move_policy_contract::World world(5, 9);
  MapElites policy(
      {.strategies = move_policy_contract::World::strategies(), .seed = 2, .islands = 3, .migrate_every = 1});
  move_policy_contract::drive(policy, world, 1, 3, 60);
  const std::size_t best = *policy.tree().best();
  std::size_t homes = 0;
  for (const std::size_t island : {0u, 1u, 2u})
    for (const auto& [cell, elite] : policy.archive(island)) homes += elite == best;
  CHECK(homes == 3);
}
