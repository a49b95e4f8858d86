// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/policy/move_ledger.hpp"

#include <doctest/doctest.h>

#include "kernelsearch/core/error.hpp"

using namespace kernelsearch;

namespace {

Observation<Move> outcome_of(const Move& move, std::uint64_t id, std::uint64_t proposal, double seconds,
                             std::uint32_t index = 0, std::uint32_t count = 1) {
  Observation<Move> observation{move, {}};
  observation.outcome.id = TrialId{id};
  observation.outcome.origin = Origin{ProposalId{proposal}, index, count};
  observation.outcome.parents = move.parents;
  observation.outcome.objective = seconds;
  observation.outcome.evaluation = Evaluation::succeeded(seconds);
  return observation;
}

Observation<Move> failure_of(const Move& move, std::uint64_t id, std::uint64_t proposal, Verdict verdict) {
  Observation<Move> observation = outcome_of(move, id, proposal, std::numeric_limits<double>::infinity(), 0,
                                             verdict == Verdict::not_generated ? 0 : 1);
  observation.outcome.evaluation = Evaluation::failed(verdict, "as scripted");
  return observation;
}

/// A ledger whose root took 10 s.
MoveLedger with_root(MoveLimits limits = {}) {
  MoveLedger ledger({"tile", "fuse"}, limits);
  const Move root = *ledger.propose_root();
  ledger.tell(outcome_of(root, 0, 0, 10.0));
  return ledger;
}

}  // namespace

TEST_CASE("MoveLedger: the root is proposed once, and not at all where one was told from outside") {
  MoveLedger ledger({"tile"});
  CHECK(ledger.propose_root()->kind == MoveKind::root);
  CHECK_FALSE(ledger.propose_root());
  CHECK(ledger.outstanding() == 1);
  MoveLedger other({"tile"});
  Observation<Move> foreign = outcome_of(Move{}, 5, 0, 1.0);
  foreign.outcome.origin.reset();
  other.tell(foreign);
  CHECK_FALSE(other.propose_root());
  CHECK(other.best_expandable() == 0);
}

TEST_CASE("MoveLedger: tries are numbered, counted while outstanding, and logged as pulls") {
  MoveLedger ledger = with_root();
  const Move first = ledger.propose(0, 1), second = ledger.propose(0, 1);
  CHECK(first == Move{MoveKind::rewrite, {TrialId{0}}, {"fuse"}, 0});
  CHECK(second.variant == 1);
  CHECK(ledger.tries(0, 1) == 2);
  CHECK(ledger.pending(0, 1) == 2);
  CHECK(ledger.pending(1) == 2);
  CHECK(ledger.pending_on(0) == 2);
  CHECK(ledger.outstanding() == 2);
  ledger.tell(outcome_of(second, 1, 2, 8.0, 0, 2));
  CHECK(ledger.outstanding() == 2);  // one of two candidates
  ledger.tell(outcome_of(second, 2, 2, 9.0, 1, 2));
  CHECK(ledger.outstanding() == 1);
  CHECK(ledger.pending(0, 1) == 1);
  ledger.tell(failure_of(first, 3, 1, Verdict::crashed));
  CHECK(ledger.outstanding() == 0);
  CHECK(ledger.children(0) == 3);
  CHECK(ledger.right_children(0) == 2);
  REQUIRE(ledger.pulls().size() == 3);
  CHECK(ledger.pulls()[0].child == 1);
  CHECK(ledger.pulls()[2].strategy == 1);
  CHECK(ledger.best_expandable() == 1);
}

TEST_CASE("MoveLedger: limits close a strategy on a kernel, and the kernel with the last of them") {
  MoveLedger ledger = with_root({.variants = 2, .max_failures = 2});
  (void)ledger.propose(0, 0);
  CHECK(ledger.open(0, 0));
  (void)ledger.propose(0, 0);
  CHECK_FALSE(ledger.open(0, 0));
  CHECK(ledger.open(0));
  CHECK(ledger.open_strategies(0) == std::vector<std::size_t>{1});
  const Move a = ledger.propose(0, 1);
  ledger.tell(failure_of(a, 1, 3, Verdict::not_generated));
  CHECK(ledger.open(0, 1));  // not yet twice in a row
  const Move b = ledger.propose(0, 1);
  ledger.tell(failure_of(b, 2, 4, Verdict::not_generated));
  CHECK_FALSE(ledger.open(0));
  CHECK_FALSE(ledger.best_expandable());
  CHECK(ledger.pulls().empty());  // nothing came of them
}

TEST_CASE("MoveLedger: an outage counts for no limit, no child and no pull, and closes nothing") {
  MoveLedger ledger = with_root({.variants = 2, .max_failures = 1, .debugs = 1});
  const auto outage = [&ledger](const Move& move, std::uint64_t id, std::uint64_t proposal) {
    Observation<Move> lost = failure_of(move, id, proposal, Verdict::not_generated);
    lost.outcome.evaluation = Evaluation::unanswered("rewriter: no reply: network");
    ledger.tell(lost);
  };
  for (std::uint64_t i = 1; i <= 5; ++i) {
    const Move move = ledger.propose(0, 0);
    CHECK(move.variant == i - 1);  // no proposal is repeated
    outage(move, i, i);
    CHECK(ledger.open(0, 0));
  }
  CHECK(ledger.children(0) == 0);
  CHECK(ledger.best_expandable() == 0);
  // Two real tries are still to be had, and the limit closes the strategy then.
  const Move first = ledger.propose(0, 0), second = ledger.propose(0, 0);
  CHECK_FALSE(ledger.open(0, 0));
  ledger.tell(outcome_of(first, 6, 6, 9.0));
  outage(second, 7, 7);
  CHECK(ledger.open(0, 0));
  ledger.tell(outcome_of(ledger.propose(0, 0), 8, 8, 8.0));
  CHECK_FALSE(ledger.open(0, 0));
  CHECK(ledger.pulls().size() == 2);
  // A strategy that does not apply stays closed whatever else was outstanding.
  const Move no = ledger.propose(0, 1), lost = ledger.propose(0, 1);
  ledger.tell(failure_of(no, 9, 9, Verdict::not_applicable));
  outage(lost, 10, 10);
  CHECK_FALSE(ledger.open(0, 1));
  CHECK(ledger.open(6, 1));  // on this kernel alone
  // A repair that was lost in an outage may be asked for again.
  ledger.tell(failure_of(ledger.propose(6, 0), 11, 11, Verdict::crashed));
  const std::size_t failed = *ledger.tree().find(TrialId{11});
  const Move repair = ledger.propose_debug(failed);
  CHECK_FALSE(ledger.can_debug(failed));
  outage(repair, 12, 12);
  CHECK(ledger.can_debug(failed));
}

TEST_CASE("MoveLedger: failed kernels are debugged a limited number of times, pairs are joined once") {
  MoveLedger ledger = with_root({.debugs = 1});
  const Move move = ledger.propose(0, 0);
  ledger.tell(failure_of(move, 1, 1, Verdict::wrong_result));
  CHECK_FALSE(ledger.can_debug(0));
  REQUIRE(ledger.can_debug(1));
  CHECK(ledger.propose_debug(1) == Move{MoveKind::debug, {TrialId{1}}, {}, 0});
  CHECK_FALSE(ledger.can_debug(1));
  CHECK(ledger.propose_recombination(0, 1)->parents.size() == 2);
  CHECK_FALSE(ledger.propose_recombination(1, 0));
  CHECK_FALSE(ledger.propose_recombination(1, 1));
}

TEST_CASE("MoveLedger: what was mended is not mended again, nor what failed at it") {
  MoveLedger ledger = with_root({.debugs = 3});
  ledger.tell(failure_of(ledger.propose(0, 0), 1, 1, Verdict::wrong_result));
  const Move first = ledger.propose_debug(1), second = ledger.propose_debug(1);
  ledger.tell(failure_of(first, 2, 2, Verdict::crashed));
  CHECK(ledger.can_debug(1));
  CHECK(ledger.can_debug(2));
  ledger.tell(outcome_of(second, 3, 3, 5.0));
  CHECK_FALSE(ledger.can_debug(1));  // 3 is what was wanted of it
  CHECK_FALSE(ledger.can_debug(2));  // and its sibling is the fix
  MoveLedger again = with_root({.debugs = 3, .repaired_again = true});
  again.tell(failure_of(again.propose(0, 0), 1, 1, Verdict::wrong_result));
  again.tell(outcome_of(again.propose_debug(1), 2, 2, 5.0));
  CHECK(again.can_debug(1));  // as published
}

TEST_CASE("MoveLedger: rounds of debugging are counted over the whole chain") {
  MoveLedger ledger = with_root({.debugs = 5, .chain_debugs = 3});
  ledger.tell(failure_of(ledger.propose(0, 0), 1, 1, Verdict::wrong_result));
  for (std::uint64_t at = 1; at <= 3; ++at) {
    REQUIRE(ledger.can_debug(at));
    ledger.tell(failure_of(ledger.propose_debug(at), at + 1, at + 1, Verdict::wrong_result));
  }
  for (std::size_t at = 1; at <= 4; ++at) CHECK_FALSE(ledger.can_debug(at));
  ledger.tell(failure_of(ledger.propose(0, 1), 5, 5, Verdict::wrong_result));
  CHECK(ledger.can_debug(5));  // another chain
  Observation<Move> lost = failure_of(ledger.propose_debug(5), 6, 6, Verdict::not_generated);
  lost.outcome.evaluation = Evaluation::unanswered("debugger: no reply: network");
  ledger.tell(lost);
  for (const std::uint64_t at : {5u, 7u, 8u}) {  // an outage is no round: there are three still
    const std::uint64_t next = at == 5 ? 7 : at + 1;
    REQUIRE(ledger.can_debug(at));
    ledger.tell(failure_of(ledger.propose_debug(at), next, next, Verdict::wrong_result));
  }
  CHECK_FALSE(ledger.can_debug(9));
}

TEST_CASE("MoveLedger: a replaced outcome moves the node in the ranking and counts as a revision") {
  MoveLedger ledger = with_root();
  const Move move = ledger.propose(0, 0);
  ledger.tell(outcome_of(move, 1, 1, 5.0));
  CHECK(ledger.best_expandable() == 1);
  ledger.tell(failure_of(move, 1, 1, Verdict::cheated));
  CHECK(ledger.best_expandable() == 0);
  CHECK(ledger.revisions() == 1);
  CHECK(ledger.right_children(0) == 0);
  CHECK(ledger.outstanding() == 0);
}

TEST_CASE("MoveLedger: foreign trials that name a known parent and strategy are pulls too") {
  MoveLedger ledger = with_root();
  Observation<Move> foreign = outcome_of(Move{MoveKind::rewrite, {TrialId{0}}, {"fuse"}}, 40, 0, 5.0);
  foreign.outcome.origin.reset();
  ledger.tell(foreign);
  REQUIRE(ledger.pulls().size() == 1);
  CHECK(ledger.pulls()[0].strategy == 1);
  CHECK(ledger.tries(0, 1) == 0);
}

TEST_CASE("MoveLedger: misuse is refused") {
  CHECK_THROWS_WITH_AS(MoveLedger({"a", "b", "a"}), doctest::Contains("named twice: a"), ConfigError);
  CHECK_THROWS_AS(MoveLedger({"a"}, {.variants = 0}), ConfigError);
}

TEST_CASE("MoveLedger: a child that was told before its parent counts as the parent's") {
  MoveLedger ledger = with_root();
  const auto foreign = [&ledger](std::uint64_t id, std::uint64_t parent, double seconds) {
    Observation<Move> told = outcome_of({MoveKind::rewrite, {TrialId{parent}}, {"tile"}, 0}, id, 0, seconds);
    told.outcome.origin.reset();
    if (seconds > 100) told.outcome.evaluation = Evaluation::failed(Verdict::crashed, "as scripted");
    ledger.tell(told);
  };
  foreign(5, 4, 9.0);
  foreign(6, 4, std::numeric_limits<double>::infinity());
  foreign(4, 0, 8.0);
  const std::size_t parent = *ledger.tree().find(TrialId{4});
  CHECK(ledger.children(parent) == 2);
  CHECK(ledger.right_children(parent) == 1);
}

TEST_CASE("MoveLedger: what was measured again takes the place of its new time") {
  MoveLedger ledger = with_root();
  const Move move = ledger.propose(0, 0);
  ledger.tell(outcome_of(move, 1, 1, 8.0));
  CHECK(ledger.best_expandable() == 1);
  ledger.tell(outcome_of(move, 1, 1, 20.0));
  CHECK(ledger.best_expandable() == 0);
  ledger.tell(outcome_of(move, 1, 1, 5.0));
  CHECK(ledger.best_expandable() == 1);
}

TEST_CASE("MoveLedger: a strategy that does not apply is ruled out on that kernel at once") {
  MoveLedger ledger = with_root({.max_failures = 5});
  const Move move = ledger.propose(0, 0);
  ledger.tell(failure_of(move, 1, 1, Verdict::not_applicable));
  CHECK_FALSE(ledger.open(0, 0));
  CHECK(ledger.open_strategies(0) == std::vector<std::size_t>{1});
}

TEST_CASE("MoveLedger: the strategy that was tried least is one of the least tried that are open") {
  MoveLedger ledger = with_root();
  Rng rng(1);
  (void)ledger.propose(0, 0);
  for (int i = 0; i < 10; ++i) CHECK(ledger.least_tried(0, rng) == 1);
  (void)ledger.propose(0, 1);
  (void)ledger.propose(0, 1);
  for (int i = 0; i < 10; ++i) CHECK(ledger.least_tried(0, rng) == 0);
}
