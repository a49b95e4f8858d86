// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/systems/greedy_refine.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>

#include "support/scripted_model.hpp"

using namespace kernelsearch;
using namespace scripted;

TEST_CASE("systems: greedy_refine has the paper's settings and searches to the end of its budget") {
  systems::GreedyRefineSettings settings;
  CHECK(settings.search.width == 1);
  settings.rewriter.common.strategies = strategies_of_words();
  settings.loop.budget = std::make_shared<TrialBudget>(12);
  RuleChat chat{RuleChat::Rule(SkilledModel())};
  auto search = systems::greedy_refine(chat, problem_of_words(), KernelLandscape{}, settings);
  const RunSummary summary = search.run();
  CHECK(summary.trials == 12);
  REQUIRE(search.best() != nullptr);
  CHECK(search.best()->outcome.objective < 100);
  CHECK(chat.count("rewriter") >= 3);
  for (const auto& trial : search.trials()) {  // what made each is in the history, for prompts
    REQUIRE(trial.outcome.move);
    CHECK(trial.outcome.move->parents == trial.outcome.parents);
  }
  for (const auto& trial : search.trials())
    if (!trial.outcome.parents.empty()) CHECK(search.log().contains(trial.outcome.parents.front()));
}
