// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/systems/helion_llm.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>

#include "support/approx.hpp"
#include "support/scripted_model.hpp"

using namespace kernelsearch;
using namespace scripted;
using kernelsearch::test::approx;

TEST_CASE("systems: helion_llm asks for configurations, with the kernel and the space in the question") {
  systems::HelionLlmSettings settings;
  CHECK(settings.search.rounds == 4);
  CHECK(settings.search.configs_per_round == 15);
  settings.loop.budget = std::make_shared<TrialBudget>(24);
  RuleChat chat(std::vector<std::string>{R"({"configs":[{"block":16,"unroll":2}]})"});
  auto search = systems::helion_llm(chat, problem_of_words({"tiling"}), KernelLandscape{}, settings);
  (void)search.run();
  REQUIRE(search.best() != nullptr);
  CHECK(search.best()->outcome.objective == approx(50));
  REQUIRE(chat.requests().size() >= 1);
  CHECK(text_of(chat.requests().front()).find("extern \"C\" void f()") != std::string::npos);
  CHECK(text_of(chat.requests().front()).find("block") != std::string::npos);
}

TEST_CASE("systems: helion_llm without an answer goes on as far as it can") {
  systems::HelionLlmSettings settings;
  settings.loop.budget = std::make_shared<TrialBudget>(20);
  RuleChat chat([](const ChatRequest&) { return ChatResult::failed(ChatFailure::quota, "no credit"); });
  auto search = systems::helion_llm(chat, problem_of_words({"tiling"}), KernelLandscape{}, settings);
  const RunSummary summary = search.run();
  CHECK(summary.trials == 11);
  CHECK(search.best() != nullptr);
}
