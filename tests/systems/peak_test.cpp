// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/systems/peak.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>

#include "support/scripted_model.hpp"

using namespace kernelsearch;
using namespace scripted;

TEST_CASE("systems: peak tunes what each transformation leaves") {
  systems::PeakSettings settings;
  CHECK(settings.workflow.patience == 3);
  CHECK(settings.workflow.retries == 2);
  settings.workflow.transformations = {"vectorize_loop", "unroll_loops"};
  settings.tuning.max_trials = 10;
  settings.loop.budget = std::make_shared<TrialBudget>(60);
  RuleChat chat([](const ChatRequest& request) {
    const bool first = text_of(request).find("# Transformation: Vectorization") != std::string::npos;
    return RuleChat::replied(std::string("```cpp\nextern \"C\" void f() {\n  base\n  vectorize\n") +
                             (first ? "" : "  UNROLL\n  tiling\n") + "}\n```\n");
  });
  auto search = systems::peak(chat, problem_of_words(), KernelLandscape{}, settings);
  (void)search.run();
  CHECK(search.policy().checkpoints().find("vectorize_loop") != nullptr);
  REQUIRE(search.best() != nullptr);
  CHECK(search.best()->outcome.evaluation.features.find("inner_trials") == 10.0);
  CHECK_FALSE(search.best()->outcome.evaluation.tuned_key.empty());
  CHECK(chat.count("transformer") >= 2);
}
