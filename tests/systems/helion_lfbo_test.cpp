// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/systems/helion_lfbo.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>

#include "support/scripted_model.hpp"

using namespace kernelsearch;
using namespace scripted;

TEST_CASE("systems: helion_lfbo has Helion's settings and needs no model") {
  systems::HelionLfboSettings settings;
  CHECK(settings.search.initial == 100);
  CHECK(settings.search.generations == 20);
  settings.search.initial = 8;
  settings.loop.budget = std::make_shared<TrialBudget>(20);
  auto search = systems::helion_lfbo(problem_of_words({"tiling"}), KernelLandscape{}, settings);
  CHECK(search.run().trials == 20);
  CHECK(search.best()->outcome.objective < 75);
}
