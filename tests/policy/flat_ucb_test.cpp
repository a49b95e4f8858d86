// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/policy/flat_ucb.hpp"

#include <doctest/doctest.h>

#include "support/approx.hpp"
#include "support/move_policy_contract.hpp"

using namespace kernelsearch;
using kernelsearch::test::approx;

namespace {
const auto make_flat_ucb = [](std::vector<std::string> strategies, std::uint64_t seed) {
  return FlatUcb({.strategies = std::move(strategies), .seed = seed});
};
}

TEST_CASE("FlatUcb: keeps the contract of policies over moves") {
  static_assert(SearchPolicy<FlatUcb>);
  move_policy_contract::check(make_flat_ucb);
}

namespace {

Observation<Move> told_of(const Move& move, std::uint64_t id, std::optional<double> seconds) {
  Observation<Move> observation{move, {}};
  observation.outcome.id = TrialId{id};
  observation.outcome.origin = Origin{ProposalId{id}, 0, 1};
  observation.outcome.parents = move.parents;
  observation.outcome.evaluation =
      seconds ? Evaluation::succeeded(*seconds) : Evaluation::failed(Verdict::crashed, "scripted");
  if (seconds) observation.outcome.objective = *seconds;
  return observation;
}

}  // namespace

TEST_CASE("FlatUcb: every strategy once, then the one that gains, from the best kernel") {
  FlatUcb policy({.strategies = {"good", "bad"}, .exploration = 0.1});
  double best = 100.0;
  TrialId champion{0};
  std::size_t good = 0;
  for (std::uint64_t t = 0; t < 40; ++t) {
    const Move move = policy.ask(1).at(0);
    if (t == 1) CHECK(move.strategy() == "good");
    if (t == 2) CHECK(move.strategy() == "bad");
    if (t > 0) CHECK(move.parents == std::vector<TrialId>{champion});
    good += move.strategy() == "good";
    std::optional<double> seconds;
    if (t == 0) seconds = best;
    if (move.strategy() == "good") seconds = best * 0.9;
    if (seconds && *seconds < best) best = *seconds, champion = TrialId{t};
    move_policy_contract::tell(policy, told_of(move, t, seconds));
  }
  CHECK(good > 30);
  CHECK(policy.statistics(0).mean() == approx(0.1));
  CHECK(policy.statistics(1).mean() == -1.0);
}

TEST_CASE("FlatUcb: what is outstanding counts as pulled") {
  FlatUcb policy({.strategies = {"a", "b", "c"}});
  move_policy_contract::tell(policy, told_of(policy.ask(1).at(0), 0, 1.0));
  std::set<std::string> drawn;
  for (const Move& move : policy.ask(3)) drawn.insert(move.strategies.front());
  CHECK(drawn.size() == 3);
}

namespace {

/// How often the second of two strategies is asked for in 40 trials, where the first takes a tenth off the
/// best time and the second a twentieth.
std::size_t pulls_of_the_worse(FlatUcbOptions options) {
  options.strategies = {"tenth", "twentieth"};
  FlatUcb policy(options);
  double best = 100.0;
  std::size_t worse = 0;
  for (std::uint64_t t = 0; t < 40; ++t) {
    const Move move = policy.ask(1).at(0);
    worse += t > 0 && move.strategy() == "twentieth";
    if (t > 0) best *= move.strategy() == "tenth" ? 0.9 : 0.95;
    move_policy_contract::tell(policy, told_of(move, t, best));
  }
  return worse;
}

}  // namespace

TEST_CASE("FlatUcb: the bonus and epsilon go back to what has earned less; without them it is tried once") {
  CHECK(pulls_of_the_worse({.exploration = 0.0}) == 1);
  CHECK(pulls_of_the_worse({.exploration = 2.0}) > 10);
  CHECK(pulls_of_the_worse({.exploration = 0.0, .epsilon = 1.0}) > 10);
}

TEST_CASE("FlatUcb: of arms that earned the same and were tried as often, the one that builds faster") {
  FlatUcb policy({.strategies = {"slow", "fast"}});
  for (std::uint64_t t = 0; t < 3; ++t) {
    const Move move = policy.ask(1).at(0);
    Observation<Move> told = told_of(move, t, 64.0 / static_cast<double>(1u << t));
    told.outcome.evaluation.phases.build = t > 0 && move.strategy() == "slow" ? 2.0 : 1.0;
    move_policy_contract::tell(policy, told);
  }
  CHECK(policy.ask(1).at(0).strategy() == "fast");
}
