// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/policy/repaired.hpp"

#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kernelsearch/policy/beam.hpp"
#include "kernelsearch/policy/best_of_k.hpp"
#include "kernelsearch/policy/flat_ucb.hpp"
#include "support/approx.hpp"
#include "support/move_policy_contract.hpp"

using namespace kernelsearch;
using kernelsearch::test::approx;

namespace {

Observation<Move> became_of(const Move& move, std::uint64_t number, Evaluation evaluation) {
  Observation<Move> observation{move, {}};
  observation.outcome.id = TrialId{number};
  observation.outcome.origin = Origin{ProposalId{number}, 0, has_candidate(evaluation.verdict) ? 1u : 0u};
  observation.outcome.parents = move.parents;
  if (evaluation.verdict == Verdict::ok) observation.outcome.objective = evaluation.measurement.seconds;
  observation.outcome.evaluation = std::move(evaluation);
  return observation;
}

Evaluation typo() {
  return Evaluation::failed(Verdict::build_failed, "error: `weight` was not declared");
}

/// Proposes one rewrite after the other on the root, and keeps what it is told.
struct Listening {
  using Proposal = Move;
  std::vector<Observation<Move>> told = {};
  std::uint32_t asked = 0;
  std::vector<Move> ask(std::size_t n) {
    std::vector<Move> moves;
    for (; moves.size() < n; ++asked)
      moves.push_back(asked == 0 ? Move{} : Move{MoveKind::rewrite, {TrialId{0}}, {"tile"}, asked - 1});
    return moves;
  }
  void tell(std::span<const Observation<Move>> batch) { told.insert(told.end(), batch.begin(), batch.end()); }
};

/// Asks for one move and tells what became of it.
template <class Policy>
Move step_of(Policy& policy, std::uint64_t number, Evaluation evaluation) {
  const std::vector<Move> moves = policy.ask(1);
  REQUIRE(moves.size() == 1);
  move_policy_contract::tell(policy, became_of(moves[0], number, std::move(evaluation)));
  return moves[0];
}

}  // namespace

TEST_CASE("Repaired: keeps the contract of policies over moves") {
  static_assert(SearchPolicy<Repaired<Beam>>);
  for (const std::size_t repairs : {0, 1, 2}) {
    CAPTURE(repairs);
    move_policy_contract::check([repairs](std::vector<std::string> names, std::uint64_t seed) {
      BeamOptions options;
      options.strategies = std::move(names);
      options.seed = seed;
      options.limits.variants = 3;
      return Repaired<Beam>(Beam(options), repairs);
    });
  }
}

TEST_CASE("Repaired: after a failure comes one debug move on it, with the strategy, before anything else") {
  Repaired<Listening> policy{Listening{}, 1};
  CHECK(step_of(policy, 0, Evaluation::succeeded(10)).kind == MoveKind::root);
  CHECK(step_of(policy, 1, typo()) == Move{MoveKind::rewrite, {TrialId{0}}, {"tile"}, 0});
  CHECK(policy.inner().told.size() == 1);  // it waits for the repair
  CHECK(step_of(policy, 2, Evaluation::succeeded(4)) == Move{MoveKind::debug, {TrialId{1}}, {"tile"}, 0});
  // The strategy's outcome is that of the mended kernel, as if there had been no slip.
  REQUIRE(policy.inner().told.size() == 2);
  const Observation<Move>& mended = policy.inner().told[1];
  CHECK(mended.proposal == Move{MoveKind::rewrite, {TrialId{0}}, {"tile"}, 0});
  CHECK(mended.outcome.origin == Origin{ProposalId{1}, 0, 1});
  CHECK(mended.outcome.id == TrialId{2});
  CHECK(mended.outcome.parents == std::vector<TrialId>{TrialId{0}});
  CHECK(mended.outcome.objective == 4.0);
  CHECK(step_of(policy, 3, Evaluation::succeeded(5)) == Move{MoveKind::rewrite, {TrialId{0}}, {"tile"}, 1});
  CHECK(policy.inner().told.back().outcome.origin == Origin{ProposalId{2}, 0, 1});  // its own count
  // A kernel that turns out later to be a fraud is told as what the policy knows it for.
  Observation<Move> fraud = became_of({MoveKind::debug, {TrialId{1}}, {"tile"}, 0}, 2,
                                      Evaluation::failed(Verdict::cheated, "late"));
  move_policy_contract::tell(policy, fraud);
  CHECK(policy.inner().told.back().proposal.kind == MoveKind::rewrite);
  CHECK(policy.inner().told.back().outcome.evaluation.verdict == Verdict::cheated);
}

TEST_CASE("Repaired: what no repair mends is told as the first failure; repairs are counted in a chain") {
  Repaired<Listening> policy{Listening{}, 2};
  step_of(policy, 0, Evaluation::succeeded(10));
  step_of(policy, 1, typo());
  CHECK(step_of(policy, 2, Evaluation::failed(Verdict::wrong_result, "c[0]", 0.9)).parents ==
        std::vector<TrialId>{TrialId{1}});
  CHECK(step_of(policy, 3, Evaluation::failed(Verdict::crashed, "again")).parents ==
        std::vector<TrialId>{TrialId{2}});  // made on what failed last
  REQUIRE(policy.inner().told.size() == 4);
  CHECK(policy.inner().told[1].outcome.id == TrialId{1});
  CHECK(policy.inner().told[1].outcome.origin == Origin{ProposalId{1}, 0, 1});
  for (const std::size_t at : {2, 3}) {
    CHECK_FALSE(policy.inner().told[at].outcome.origin.has_value());
    CHECK(policy.inner().told[at].proposal.kind == MoveKind::debug);  // counts against no strategy
  }
  CHECK(step_of(policy, 4, typo()).kind == MoveKind::rewrite);

  // A repair that yields no candidate ends the chain.
  CHECK(step_of(policy, 5, Evaluation::failed(Verdict::not_generated, "no reply")).kind == MoveKind::debug);
  CHECK(policy.inner().told.back().outcome.id == TrialId{4});
}

TEST_CASE(
    "Repaired: what the policy itself asks to be mended again is not the question that was asked already") {
  // After the first failure that no repair mended it asks for a repair of its own.
  struct Debugging : Listening {
    std::vector<Move> ask(std::size_t n) {
      if (told.empty() || told.back().outcome.ok()) return Listening::ask(n);
      return {Move{MoveKind::debug, {TrialId{1}}, {"tile"}, 0}};
    }
  };
  Repaired<Debugging> policy{Debugging{}, 1};
  step_of(policy, 0, Evaluation::succeeded(10));
  step_of(policy, 1, typo());
  CHECK(step_of(policy, 2, typo()) == Move{MoveKind::debug, {TrialId{1}}, {"tile"}, 0});
  CHECK(step_of(policy, 3, typo()) == Move{MoveKind::debug, {TrialId{1}}, {"tile"}, 1});
}

TEST_CASE("Repaired: a repair that an outage left without an answer is asked for again") {
  Repaired<Listening> policy{Listening{}, 1};
  step_of(policy, 0, Evaluation::succeeded(10));
  step_of(policy, 1, typo());
  step_of(policy, 2, Evaluation::unanswered("debugger: no reply: network"));
  step_of(policy, 3, Evaluation::unanswered("debugger: no reply: network"));
  CHECK(policy.inner().told.size() == 1);  // the failure still waits
  CHECK(step_of(policy, 4, Evaluation::succeeded(4)) == Move{MoveKind::debug, {TrialId{1}}, {"tile"}, 2});
  REQUIRE(policy.inner().told.size() == 2);
  CHECK(policy.inner().told[1].outcome.objective == 4.0);
  CHECK(policy.inner().told[1].outcome.origin == Origin{ProposalId{1}, 0, 1});
  CHECK(step_of(policy, 5, Evaluation::succeeded(5)).kind == MoveKind::rewrite);
}

TEST_CASE("Repaired: 0 repairs is the policy itself; the root and what never was code are not mended") {
  Repaired<Listening> none{Listening{}, 0};
  step_of(none, 0, Evaluation::succeeded(10));
  step_of(none, 1, typo());
  CHECK(step_of(none, 2, typo()).kind == MoveKind::rewrite);
  CHECK(none.inner().told.size() == 3);
  Repaired<Listening> one{Listening{}, 1};
  step_of(one, 0, typo());
  step_of(one, 1, Evaluation::failed(Verdict::not_generated, "prose"));
  step_of(one, 2, Evaluation::failed(Verdict::not_applicable, "tile: no"));
  CHECK(step_of(one, 3, Evaluation::succeeded(1)).kind == MoveKind::rewrite);
  CHECK(one.inner().told.size() == 4);
}

TEST_CASE("Repaired: a slip does not count against a bandit's strategy") {
  const auto rewards = [](std::size_t repairs) {
    FlatUcbOptions options;
    options.strategies = {"tile"};
    Repaired<FlatUcb> policy(FlatUcb(options), repairs);
    step_of(policy, 0, Evaluation::succeeded(10));
    step_of(policy, 1, typo());
    step_of(policy, 2, Evaluation::succeeded(5));
    (void)policy.ask(1);
    return policy.inner().statistics(0).mean();
  };
  CHECK(rewards(1) == approx(0.5));    // twice as fast
  CHECK(rewards(0) == approx(-0.25));  // the failure's -1 and the next one's half
}

TEST_CASE("Repaired: what does not apply takes none of the samples of best-of-K and none of a beam's turns") {
  BestOfK sampled(BestOfKOptions{.strategies = {"a", "b"}, .k = 2});
  step_of(sampled, 0, Evaluation::succeeded(10));
  step_of(sampled, 1, Evaluation::failed(Verdict::not_applicable, "a: no"));
  step_of(sampled, 2, Evaluation::succeeded(9));
  step_of(sampled, 3, Evaluation::succeeded(8));
  CHECK(sampled.ask(1).empty());

  Beam beam(BeamOptions{.strategies = {"a", "b", "c"}, .width = 1, .branch = 2});
  step_of(beam, 0, Evaluation::succeeded(10));
  step_of(beam, 1, Evaluation::failed(Verdict::not_applicable, "a: no"));
  step_of(beam, 2, Evaluation::succeeded(5));
  // Still the first generation: its second proposal is made on the root, not on the faster child.
  CHECK(step_of(beam, 3, Evaluation::succeeded(6)).parents == std::vector<TrialId>{TrialId{0}});
  CHECK(step_of(beam, 4, Evaluation::succeeded(4)).parents == std::vector<TrialId>{TrialId{2}});
}
