// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/policy/pull_statistics.hpp"

#include <doctest/doctest.h>

#include "support/approx.hpp"

using namespace kernelsearch;
using kernelsearch::test::approx;

namespace {

Observation<Move> pull_of(const Move& move, std::uint64_t id, std::uint64_t proposal, double seconds,
                          std::uint32_t index = 0, std::uint32_t count = 1) {
  Observation<Move> observation{move, {}};
  observation.outcome.id = TrialId{id};
  observation.outcome.origin = Origin{ProposalId{proposal}, index, count};
  observation.outcome.parents = move.parents;
  observation.outcome.objective = seconds;
  observation.outcome.evaluation = Evaluation::succeeded(seconds);
  return observation;
}

/// A ledger whose root took 10 s.
MoveLedger ledger_with_root(MoveLimits limits = {}) {
  MoveLedger ledger({"tile", "fuse"}, limits);
  const Move root = *ledger.propose_root();
  ledger.tell(pull_of(root, 0, 0, 10.0));
  return ledger;
}

}  // namespace

TEST_CASE("PullStatistics: follow the log, and start afresh when an outcome was replaced") {
  MoveLedger ledger = ledger_with_root();
  const auto by_strategy = [](const Pull& pull) { return pull.strategy; };
  PullStatistics statistics(2);
  const Move a = ledger.propose(0, 0), b = ledger.propose(0, 0);
  ledger.tell(pull_of(a, 1, 1, 8.0));
  ledger.tell(pull_of(b, 2, 2, 6.0));
  statistics.follow(ledger, by_strategy);
  CHECK(statistics[0].pulls == 2);
  CHECK(statistics[0].mean() == approx(0.3));
  CHECK(statistics[0].squared_reward == approx(0.2));
  CHECK(statistics[1].pulls == 0);
  ledger.tell(pull_of(b, 2, 2, 10.0));
  statistics.follow(ledger, by_strategy);
  CHECK(statistics[0].mean() == approx(0.1));
  statistics.rebuild(ledger, 3, [](const Pull&) { return std::size_t{2}; });
  CHECK(statistics[2].pulls == 2);
  CHECK(statistics.pulls() == 2);
}
