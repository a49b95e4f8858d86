// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/policy/skill_journal.hpp"

#include <doctest/doctest.h>

#include "kernelsearch/policy/roofline_budget.hpp"

using namespace kernelsearch;

TEST_CASE("SkillJournal: the last iteration is the one whose moves are outstanding") {
  RooflineBudgetOptions options;
  options.journal = std::make_shared<SkillJournal>();
  RooflineBudget policy(options);
  CHECK_FALSE(options.journal->last().has_value());
  Observation<Move> root{policy.ask(1).at(0), {}};
  root.outcome.origin = Origin{ProposalId{0}, 0, 1};
  root.outcome.evaluation = Evaluation::succeeded(1.0);
  root.outcome.objective = 1.0;
  policy.tell(std::span<const Observation<Move>>(&root, 1));
  REQUIRE(options.journal->last().has_value());
  CHECK(options.journal->last()->number == 1);
  CHECK(options.journal->last()->phase == SkillPhase::branching);
  CHECK(options.journal->iterations().size() == policy.iterations().size());
}
