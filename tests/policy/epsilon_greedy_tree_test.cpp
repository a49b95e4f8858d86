// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/policy/epsilon_greedy_tree.hpp"

#include <doctest/doctest.h>

#include <map>

#include "support/approx.hpp"
#include "support/move_policy_contract.hpp"

using namespace kernelsearch;
using kernelsearch::test::approx;

namespace {
const auto make_epsilon_greedy_tree = [](std::vector<std::string> strategies, std::uint64_t seed) {
  return EpsilonGreedyTree({.strategies = std::move(strategies), .seed = seed});
};
}

TEST_CASE("EpsilonGreedyTree: keeps the contract of policies over moves") {
  static_assert(SearchPolicy<EpsilonGreedyTree>);
  move_policy_contract::check(make_epsilon_greedy_tree);
}

namespace {

/// Tells the next proposal's outcome; nothing: it failed.
Move step(EpsilonGreedyTree& policy, std::uint64_t id, std::optional<double> seconds, double correct = 0.0) {
  const Move move = policy.ask(1).at(0);
  Observation<Move> observation{move, {}};
  observation.outcome.id = TrialId{id};
  observation.outcome.origin = Origin{ProposalId{id}, 0, 1};
  observation.outcome.parents = move.parents;
  observation.outcome.evaluation = seconds ? Evaluation::succeeded(*seconds)
                                           : Evaluation::failed(Verdict::wrong_result, "scripted", correct);
  if (seconds) observation.outcome.objective = *seconds;
  move_policy_contract::tell(policy, observation);
  return move;
}
const std::vector<TrialId> root{TrialId{0}};

}  // namespace

TEST_CASE("EpsilonGreedyTree: the root is throttled, however much faster than its children it is") {
  EpsilonGreedyTree policy({.strategies = {"a"}, .root_children = 3, .epsilon = 0.0});
  step(policy, 0, 1.0);
  for (std::uint64_t i = 1; i <= 3; ++i) CHECK(step(policy, i, 5.0 + static_cast<double>(i)).parents == root);
  CHECK(step(policy, 4, 9.0).parents == std::vector<TrialId>{TrialId{1}});
}

TEST_CASE("EpsilonGreedyTree: a branch whose children all fail is dead, and failures are debugged") {
  EpsilonGreedyTree policy(
      {.strategies = {"a"}, .root_children = 2, .dead_children = 2, .epsilon = 0.0, .limits = {.debugs = 1}});
  step(policy, 0, 10.0);
  step(policy, 1, 5.0);
  for (std::uint64_t i = 2; i <= 4; ++i)
    CHECK(step(policy, i, std::nullopt).parents == std::vector<TrialId>{TrialId{1}});
  CHECK(step(policy, 5, 6.0).parents == root);  // node 1 has three children, all failed
  CHECK(step(policy, 6, std::nullopt).parents == std::vector<TrialId>{TrialId{5}});
}

TEST_CASE("EpsilonGreedyTree: a near miss is exploited when progress is graded") {
  for (const bool graded : {false, true}) {
    EpsilonGreedyTree policy({.strategies = {"a"}, .root_children = 9, .epsilon = 0.0, .graded = graded});
    step(policy, 0, 10.0);
    step(policy, 1, 9.0);                     // from the root
    step(policy, 2, std::nullopt, 1.0);       // from 1: nearly right
    const Move next = step(policy, 3, 20.0);  // 1 again
    CHECK(next.parents == std::vector<TrialId>{TrialId{1}});
    CHECK(next.kind == MoveKind::rewrite);
  }
  // The faster of two is the near miss: 2 * (2 - 0.75) = 2.5 against 3.
  EpsilonGreedyTree policy(
      {.strategies = {"a"}, .root_children = 2, .dead_children = 0, .epsilon = 0.0, .graded = true});
  step(policy, 0, 3.0);
  step(policy, 1, 2.0);
  CHECK(step(policy, 2, std::nullopt, 1.0).parents == std::vector<TrialId>{TrialId{1}});
  const Move mend = step(policy, 3, 1.0);
  CHECK(mend.kind == MoveKind::debug);
  CHECK(mend.parents == std::vector<TrialId>{TrialId{2}});
}

TEST_CASE("EpsilonGreedyTree: exploring draws leaves, and epsilon decays where that is asked for") {
  EpsilonGreedyTree always({.strategies = {"a"}, .root_children = 99, .epsilon = 1.0});
  step(always, 0, 1.0);
  for (std::uint64_t i = 1; i < 6; ++i)
    CHECK(step(always, i, 10.0).parents == std::vector<TrialId>{TrialId{i - 1}});  // the only leaf
  EpsilonGreedyTree decaying(
      {.strategies = {"a"}, .epsilon = 0.4, .epsilon_decay = 0.5, .least_epsilon = 0.15});
  CHECK(decaying.epsilon() == 0.4);
  step(decaying, 0, 1.0);
  CHECK(decaying.epsilon() == approx(0.2));
  step(decaying, 1, 1.0);
  CHECK(decaying.epsilon() == approx(0.15));
}

TEST_CASE("EpsilonGreedyTree: below epsilon any leaf is drawn, failed ones too, and above it the best node") {
  // A root with four children, the second of which failed: leaves are 1 to 4, the best node is 1.
  std::map<std::uint64_t, int> drawn;
  constexpr std::size_t rounds = 400;
  for (std::uint64_t seed = 0; seed < rounds; ++seed) {
    EpsilonGreedyTree policy(
        {.strategies = {"a"}, .seed = seed, .root_children = 4, .epsilon = 0.4, .limits = {.debugs = 1}});
    step(policy, 0, 10.0);
    std::uint64_t id = 1;
    for (; id <= 4; ++id) {
      // Whatever it draws here, the outcomes are told as children of the root.
      Observation<Move> observation{{MoveKind::rewrite, root, {"a"}, static_cast<std::uint32_t>(id)}, {}};
      observation.outcome.id = TrialId{id};
      observation.outcome.parents = root;
      observation.outcome.evaluation = id == 2 ? Evaluation::failed(Verdict::wrong_result, "scripted")
                                               : Evaluation::succeeded(static_cast<double>(id));
      if (id != 2) observation.outcome.objective = static_cast<double>(id);
      move_policy_contract::tell(policy, observation);
    }
    const Move move = policy.ask(1).at(0);
    const std::uint64_t parent = number(move.parents.at(0));
    ++drawn[parent];
    CHECK((move.kind == MoveKind::debug) == (parent == 2));
  }
  // With probability 0.4 one of four leaves: 1 comes with 0.6 + 0.1, each other one with 0.1.
  for (const std::uint64_t leaf : {2u, 3u, 4u}) {
    CAPTURE(leaf);
    CHECK(drawn[leaf] > 20);
    CHECK(drawn[leaf] < 60);
  }
  CHECK(drawn[1] > 240);
  CHECK(drawn[1] < 320);
  CHECK(drawn.find(0) == drawn.end());  // throttled
}
