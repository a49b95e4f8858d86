// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/policy/beam.hpp"

#include <doctest/doctest.h>

#include "support/approx.hpp"
#include "support/move_policy_contract.hpp"

using namespace kernelsearch;
using kernelsearch::test::approx;

namespace {
const auto make_beam = [](std::vector<std::string> strategies, std::uint64_t seed) {
  return Beam({.strategies = std::move(strategies), .seed = seed});
};
}

TEST_CASE("Beam: keeps the contract of policies over moves") {
  static_assert(SearchPolicy<Beam>);
  move_policy_contract::check(make_beam);
}

TEST_CASE("Beam: a generation starts from the best of the last, and waits for all of it") {
  move_policy_contract::World world(6, 9);
  Beam policy({.strategies = {"tile", "vectorize", "prefetch"}, .seed = 1, .width = 2, .branch = 3});
  move_policy_contract::tell(policy, world.realise(policy.ask(1).at(0), 0, 0));
  const std::vector<Move> first = policy.ask(10);
  REQUIRE(first.size() == 3);  // one kernel, three branches
  for (std::uint64_t i = 0; i < 3; ++i) {
    CHECK(first[i].parents == std::vector<TrialId>{TrialId{0}});
    CHECK(policy.ask(1).empty());
    move_policy_contract::tell(policy, world.realise(first[i], i + 1, i + 1));
  }
  const std::vector<Move> second = policy.ask(10);
  CHECK(second.size() == 6);
  REQUIRE(policy.beam().size() == 2);
  // 0.6 by tiling and 0.8 by vectors beat the root and prefetching.
  CHECK(policy.tree().node(policy.beam()[0]).objective == approx(0.6));
  CHECK(policy.tree().node(policy.beam()[1]).objective == approx(0.8));
}

TEST_CASE("Beam: two of the beam are joined where that is asked for") {
  move_policy_contract::World world(6, 9);
  Beam policy({.strategies = {"tile"}, .seed = 1, .recombine = 0.5});
  const move_policy_contract::Record record = move_policy_contract::drive(policy, world, 4, 3, 80);
  const auto joined = std::count_if(record.moves.begin(), record.moves.end(),
                                    [](const Move& move) { return move.kind == MoveKind::recombine; });
  CHECK(joined > 5);
}
