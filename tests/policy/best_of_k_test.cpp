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

TEST_CASE("BestOfK: an answer that a strategy does not apply is no sample") {
  BestOfK policy({.strategies = {"a", "b", "c"}, .seed = 1, .k = 2});
  for (std::uint64_t t = 0; t < 4; ++t) {
    const std::vector<Move> moves = policy.ask(1);
    REQUIRE(moves.size() == 1);
    Observation<Move> told{moves.front(), {}};
    told.outcome.id = TrialId{t};
    told.outcome.origin = Origin{ProposalId{t}, 0, 1};
    told.outcome.parents = moves.front().parents;
    told.outcome.evaluation =
        t == 1 ? Evaluation::failed(Verdict::not_applicable, "scripted") : Evaluation::succeeded(1.0);
    told.outcome.objective = t == 1 ? std::numeric_limits<double>::infinity() : 1.0;
    move_policy_contract::tell(policy, told);
  }
  CHECK(policy.ask(1).empty());  // two samples and the answer that was none
}
