// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/policy/uct.hpp"

#include <doctest/doctest.h>

#include "support/move_policy_contract.hpp"

using namespace kernelsearch;

namespace {
const auto make_uct = [](std::vector<std::string> strategies, std::uint64_t seed) {
  return Uct({.strategies = std::move(strategies), .seed = seed});
};
}

TEST_CASE("Uct: keeps the contract of policies over moves") {
  static_assert(SearchPolicy<Uct>);
  move_policy_contract::check(make_uct);
}

TEST_CASE("Uct: visits are counted along the path, and the better half of the tree gets more of them") {
  for (const UctBackup backup : {UctBackup::best, UctBackup::mean}) {
    Uct policy({.strategies = {"good", "bad"}, .seed = 1, .exploration = 0.3, .backup = backup});
    std::vector<double> time{100.0};
    for (std::uint64_t t = 0; t < 120; ++t) {
      const Move move = policy.ask(1).at(0);
      Observation<Move> observation{move, {}};
      observation.outcome.id = TrialId{t};
      observation.outcome.origin = Origin{ProposalId{t}, 0, 1};
      observation.outcome.parents = move.parents;
      if (t > 0) {
        const double parent = time[number(move.parents.front())];
        time.push_back(parent * (move.strategy() == "good" ? 0.95 : 1.2));
      }
      observation.outcome.objective = time.back();
      observation.outcome.evaluation = Evaluation::succeeded(time.back());
      move_policy_contract::tell(policy, observation);
    }
    CHECK(policy.visits(0) == 120);
    std::size_t good = 0, bad = 0, below = 0;
    for (const std::size_t child : policy.tree().children(0)) {
      below += policy.visits(child);
      (policy.tree().node(child).move.strategy() == "good" ? good : bad) += policy.visits(child);
    }
    CHECK(below == 119);
    CHECK(good > 2 * bad);
  }
}

TEST_CASE("Uct: the bonus of what was visited seldom sends it into the worse half of the tree more often") {
  const auto visits_of_bad = [](double exploration) {
    Uct policy({.strategies = {"good", "bad"}, .seed = 1, .exploration = exploration});
    std::vector<double> time{100.0};
    for (std::uint64_t t = 0; t < 120; ++t) {
      const Move move = policy.ask(1).at(0);
      Observation<Move> observation{move, {}};
      observation.outcome.id = TrialId{t};
      observation.outcome.origin = Origin{ProposalId{t}, 0, 1};
      observation.outcome.parents = move.parents;
      if (t > 0)
        time.push_back(time[number(move.parents.front())] * (move.strategy() == "good" ? 0.95 : 1.2));
      observation.outcome.objective = time.back();
      observation.outcome.evaluation = Evaluation::succeeded(time.back());
      move_policy_contract::tell(policy, observation);
    }
    std::size_t bad = 0;
    for (const std::size_t child : policy.tree().children(0))
      if (policy.tree().node(child).move.strategy() == "bad") bad += policy.visits(child);
    return bad;
  };
  CHECK(visits_of_bad(3.0) > 2 * visits_of_bad(0.0));
}
