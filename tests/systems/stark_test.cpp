// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/systems/stark.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>

#include "support/scripted_model.hpp"

using namespace kernelsearch;
using namespace scripted;

TEST_CASE("systems: stark has the paper's settings and searches to the end of its budget") {
  systems::StarkSettings settings;
  CHECK(settings.search.epsilon == 0.35);
  CHECK(settings.team.planner.temperature == 0.8);
  CHECK(settings.team.coder.temperature == 0.1);
  settings.team.common.strategies = strategies_of_words();
  settings.loop.budget = std::make_shared<TrialBudget>(12);
  RuleChat chat{RuleChat::Rule(SkilledModel())};
  auto search = systems::stark(chat, problem_of_words(), KernelLandscape{}, settings);
  const RunSummary summary = search.run();
  CHECK(summary.trials == 12);
  REQUIRE(search.best() != nullptr);
  CHECK(search.best()->outcome.objective < 100);
  CHECK(chat.count("planner") >= 3);
  for (const auto& trial : search.trials())
    if (!trial.outcome.parents.empty()) CHECK(search.log().contains(trial.outcome.parents.front()));
}
