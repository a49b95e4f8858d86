// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/policy/reflexion.hpp"

#include <doctest/doctest.h>

#include "support/move_policy_contract.hpp"

using namespace kernelsearch;

namespace {
const auto make_reflexion = [](std::vector<std::string> strategies, std::uint64_t seed) {
  return Reflexion({.strategies = std::move(strategies), .seed = seed});
};
}

TEST_CASE("Reflexion: keeps the contract of policies over moves") {
  static_assert(SearchPolicy<Reflexion>);
  move_policy_contract::check(make_reflexion);
}

TEST_CASE("Reflexion: one chain, each attempt on the last; failures are debugged, then given up") {
  move_policy_contract::World world(9, 9);
  Reflexion policy({.strategies = {"x"}, .seed = 1, .patience = 0, .limits = {.debugs = 1}});
  const auto outcome = [](const Move& move, std::uint64_t id, std::optional<double> seconds) {
    Observation<Move> observation{move, {}};
    observation.outcome.id = TrialId{id};
    observation.outcome.origin = Origin{ProposalId{id}, 0, 1};
    observation.outcome.parents = move.parents;
    observation.outcome.evaluation =
        seconds ? Evaluation::succeeded(*seconds) : Evaluation::failed(Verdict::crashed, "scripted");
    if (seconds) observation.outcome.objective = *seconds;
    return observation;
  };
  const auto next = [&](std::uint64_t id, std::optional<double> seconds) {
    const std::vector<Move> moves = policy.ask(5);
    REQUIRE(moves.size() == 1);
    CHECK(policy.ask(5).empty());  // one at a time
    move_policy_contract::tell(policy, outcome(moves.front(), id, seconds));
    return moves.front();
  };
  next(0, 10.0);
  next(1, 12.0);
  CHECK(next(2, std::nullopt).parents == std::vector<TrialId>{TrialId{1}});  // on, though it is slower
  const Move mend = next(3, std::nullopt);
  CHECK(mend.kind == MoveKind::debug);
  CHECK(mend.parents == std::vector<TrialId>{TrialId{2}});
  CHECK(next(4, 9.0).parents == std::vector<TrialId>{TrialId{3}});  // its one repair failed: mended in turn
  CHECK(next(5, std::nullopt).parents == std::vector<TrialId>{TrialId{4}});
}

TEST_CASE("Reflexion: rounds of debugging belong to the chain, after which it goes on from the best (GEAK)") {
  Reflexion policy({.strategies = {"x"}, .patience = 1, .limits = {.debugs = 5, .chain_debugs = 5}});
  std::vector<MoveKind> kinds;
  for (std::uint64_t id = 0; id < 20; ++id) {
    const Move move = policy.ask(1).at(0);
    kinds.push_back(move.kind);
    if (id > 0 && move.kind == MoveKind::rewrite) CHECK(move.parents == std::vector<TrialId>{TrialId{0}});
    Observation<Move> observation{move, {}};
    observation.outcome.id = TrialId{id};
    observation.outcome.origin = Origin{ProposalId{id}, 0, 1};
    observation.outcome.parents = move.parents;
    observation.outcome.evaluation =
        id == 0 ? Evaluation::succeeded(1.0) : Evaluation::failed(Verdict::wrong_result, "scripted");
    if (id == 0) observation.outcome.objective = 1.0;
    move_policy_contract::tell(policy, observation);
  }
  // One rewrite and five rounds, again and again: not 18 rounds of 20.
  for (std::size_t id = 1; id < kinds.size(); ++id) CHECK((kinds[id] == MoveKind::rewrite) == (id % 6 == 1));
}

TEST_CASE("Reflexion: out of patience, the chain goes on from the best") {
  Reflexion policy({.strategies = {"x"}, .seed = 1, .patience = 2});
  for (std::uint64_t t = 0; t < 5; ++t) {
    const Move move = policy.ask(1).at(0);
    if (t == 2) CHECK(move.parents == std::vector<TrialId>{TrialId{1}});
    if (t == 3) CHECK(move.parents == std::vector<TrialId>{TrialId{0}});
    Observation<Move> observation{move, {}};
    observation.outcome.id = TrialId{t};
    observation.outcome.origin = Origin{ProposalId{t}, 0, 1};
    observation.outcome.parents = move.parents;
    observation.outcome.objective = 1.0 + static_cast<double>(t);
    observation.outcome.evaluation = Evaluation::succeeded(observation.outcome.objective);
    move_policy_contract::tell(policy, observation);
  }
}

TEST_CASE("Reflexion: after a failure that is not mended it goes on from the last that was right") {
  Reflexion policy({.strategies = {"x"}, .patience = 0, .limits = {.debugs = 0}});
  const double seconds[] = {10.0, 12.0, std::numeric_limits<double>::infinity(), 9.0};
  const std::uint64_t parents[] = {0, 0, 1, 1};  // the third failed: the fourth is made on the second
  for (std::uint64_t id = 0; id < 4; ++id) {
    const Move move = policy.ask(1).at(0);
    if (id > 0) CHECK(move.parents == std::vector<TrialId>{TrialId{parents[id]}});
    Observation<Move> observation{move, {}};
    observation.outcome.id = TrialId{id};
    observation.outcome.origin = Origin{ProposalId{id}, 0, 1};
    observation.outcome.parents = move.parents;
    observation.outcome.objective = seconds[id];
    observation.outcome.evaluation =
        id == 2 ? Evaluation::failed(Verdict::crashed, "scripted") : Evaluation::succeeded(seconds[id]);
    move_policy_contract::tell(policy, observation);
  }
}
