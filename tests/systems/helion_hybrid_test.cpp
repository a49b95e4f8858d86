// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/systems/helion_hybrid.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>

#include "support/approx.hpp"
#include "support/scripted_model.hpp"

using namespace kernelsearch;
using namespace scripted;
using kernelsearch::test::approx;

TEST_CASE("systems: helion_hybrid asks for configurations, with the kernel and the space in the question") {
  systems::HelionHybridSettings settings;
  CHECK(settings.model_search.rounds == 1);
  CHECK(settings.model_search.configs_per_round == 15);
  settings.loop.budget = std::make_shared<TrialBudget>(24);
  RuleChat chat(std::vector<std::string>{R"({"configs":[{"block":16,"unroll":2}]})"});
  auto search = systems::helion_hybrid(chat, problem_of_words({"tiling"}), KernelLandscape{}, settings);
  (void)search.run();
  REQUIRE(search.best() != nullptr);
  CHECK(search.best()->outcome.objective == approx(50));
  REQUIRE(chat.requests().size() >= 1);
  CHECK(text_of(chat.requests().front()).find("extern \"C\" void f()") != std::string::npos);
  CHECK(text_of(chat.requests().front()).find("block") != std::string::npos);
}

TEST_CASE("systems: helion_hybrid without an answer goes on as far as it can") {
  systems::HelionHybridSettings settings;
  settings.loop.budget = std::make_shared<TrialBudget>(20);
  RuleChat chat([](const ChatRequest&) { return ChatResult::failed(ChatFailure::quota, "no credit"); });
  auto search = systems::helion_hybrid(chat, problem_of_words({"tiling"}), KernelLandscape{}, settings);
  const RunSummary summary = search.run();
  CHECK(summary.trials == 20);
  CHECK(search.best() != nullptr);
}

TEST_CASE(
    "systems: helion_hybrid goes on with our search or with Helion's, told all of the model's results") {
  // A space in which our second stage and Helion's cannot be confused: Helion's first generation moves up to
  // two tunables of the best or of the default, one step each; ours draws wherever its model likes.
  Problem problem = problem_of_words();
  SpaceBuilder builder;
  for (int i = 0; i < 6; ++i) builder.add(Tunable::integer("t" + std::to_string(i), 0, 15));
  problem.kernel.space = builder.build();
  const Space& space = problem.kernel.space;
  const auto proposals = [&](systems::HelionStage2 stage2) {
    systems::HelionHybridSettings settings;
    settings.stage2 = stage2;
    RuleChat chat(std::vector<std::string>{R"({"configs":[{"t0":9,"t1":9,"t2":9,"t3":9,"t4":9,"t5":9}]})"});
    auto [policy, generator] = systems::helion_hybrid_parts(chat, problem, settings);
    std::vector<Config> all;
    while (all.size() <= 12) {  // the first batch of the second stage ends it
      const std::vector<Config> batch = policy.ask(100);
      if (batch.empty() && !policy.await()) break;
      for (const Config& config : batch) {
        Observation<Config> observation{config, {}};
        observation.outcome.id = TrialId{all.size()};
        observation.outcome.origin = Origin{ProposalId{all.size()}, 0, 1};
        double time = 1;
        for (const std::uint32_t at : config.indices) time += std::abs(static_cast<double>(at) - 10);
        observation.outcome.objective = time;
        observation.outcome.evaluation = Evaluation::succeeded(time);
        policy.tell(std::span(&observation, 1));
        all.push_back(config);
      }
    }
    return all;
  };
  const Config best{{9, 9, 9, 9, 9, 9}};
  const auto steps_from = [](const Config& a, const Config& b) {
    std::size_t moved = 0, far = 0;
    for (std::size_t t = 0; t < a.indices.size(); ++t) {
      const int step = std::abs(static_cast<int>(a.indices[t]) - static_cast<int>(b.indices[t]));
      moved += step != 0 ? 1 : 0;
      far += step > 1 ? 1 : 0;
    }
    return far > 0 ? std::size_t{99} : moved;
  };
  const auto near_all = [&](const std::vector<Config>& all) {
    REQUIRE(all.size() >= 15);
    CHECK(all[0] == space.default_config());
    CHECK(all[11] == best);  // behind the default and ten random ones: the model's
    return std::all_of(all.begin() + 12, all.end(), [&](const Config& config) {
      return std::min(steps_from(config, best), steps_from(config, space.default_config())) <= 2;
    });
  };
  CHECK(near_all(proposals(systems::HelionStage2::helion)));
  CHECK_FALSE(near_all(proposals(systems::HelionStage2::ours)));
}
