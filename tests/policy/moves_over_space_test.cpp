// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/policy/moves_over_space.hpp"

#include <doctest/doctest.h>

#include "kernelsearch/policy/flat_ucb.hpp"
#include "support/policy_contract.hpp"

using namespace kernelsearch;

namespace {

/// Does what a script says, and remembers what it was told.
struct ScriptedMoves {
  using Proposal = Move;
  std::shared_ptr<std::vector<Observation<Move>>> told = std::make_shared<std::vector<Observation<Move>>>();
  std::vector<Move> script{};
  std::size_t next = 0;
  std::vector<Move> ask(std::size_t n) {
    std::vector<Move> moves;
    while (moves.size() < n && next < script.size()) moves.push_back(script[next++]);
    return moves;
  }
  void tell(std::span<const Observation<Move>> batch) {
    told->insert(told->end(), batch.begin(), batch.end());
  }
};

}  // namespace

TEST_CASE("MovesOverSpace: a policy over moves becomes one over spaces that keeps their contract") {
  policy_contract::check([](const Space& space, std::uint64_t seed) {
    SpaceStrategies strategies(space, {.seed = seed});
    FlatUcb policy({.strategies = strategies.names(), .seed = seed});
    return MovesOverSpace(AnyPolicy<Move>(std::move(policy)), std::move(strategies), {.seed = seed});
  });
}

TEST_CASE("MovesOverSpace: the policy hears of its moves by their numbers, with parents and features") {
  const Space space = policy_contract::small_space();
  ScriptedMoves scripted;
  auto told = scripted.told;
  scripted.script = {Move{}, Move{MoveKind::rewrite, {TrialId{40}}, {"unheard of"}},
                     Move{MoveKind::rewrite, {TrialId{40}}, {"unroll"}}};
  MovesOverSpace policy{AnyPolicy<Move>(scripted), SpaceStrategies(space)};
  const std::vector<Config> first = policy.ask(1);
  REQUIRE(first == std::vector<Config>{space.default_config()});
  policy_contract::tell(policy, policy_contract::observe(space, first[0], 40, 0));
  REQUIRE(told->size() == 1);
  CHECK(told->at(0).proposal.kind == MoveKind::root);
  CHECK(told->at(0).outcome.evaluation.features.find("tunable:unroll") == 1.0);

  // The second leads nowhere: the policy is told at once, and its third proposal is the second of the space.
  const std::vector<Config> second = policy.ask(1);
  REQUIRE(second.size() == 1);
  REQUIRE(told->size() == 2);
  CHECK(told->at(1).outcome.evaluation.verdict == Verdict::not_generated);
  CHECK(told->at(1).outcome.origin == Origin{ProposalId{1}, 0, 0});
  policy_contract::tell(policy, policy_contract::observe(space, second[0], 41, 1));
  CHECK(told->at(2).outcome.origin == Origin{ProposalId{2}, 0, 1});
  CHECK(told->at(2).outcome.parents == std::vector<TrialId>{TrialId{40}});

  // The policy is at its end: what comes now are restarts, foreign to it.
  const std::vector<Config> third = policy.ask(1);
  REQUIRE(third.size() == 1);
  CHECK(policy.ask(1).empty());  // one restart at a time
  policy_contract::tell(policy, policy_contract::observe(space, third[0], 42, 2));
  CHECK(told->at(3).proposal.kind == MoveKind::submitted);
  CHECK_FALSE(told->at(3).outcome.origin);
  // Told again, it is the same move.
  policy_contract::tell(policy, policy_contract::observe(space, second[0], 41, 1));
  CHECK(told->at(4).proposal == told->at(2).proposal);
}
