// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/systems/kernelband.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/core/rng.hpp"
#include "kernelsearch/systems/system_registry.hpp"
#include "support/scripted_model.hpp"

using namespace kernelsearch;
using namespace scripted;

namespace {

constexpr std::array<const char*, 3> versions{"ours", "v1", "v2"};

systems::KernelBandSettings version_of(const std::string& name) {
  if (name == "v1") return systems::KernelBandSettings::v1();
  if (name == "v2") return systems::KernelBandSettings::v2();
  return {};
}

/// Strategies of words under the names of the published ones, so that every version takes them.
std::vector<Strategy> published_words() {
  std::vector<Strategy> strategies = strategies_of_words();
  const char* const names[] = {"tiling", "vectorization", "fusion", "prefetching"};
  for (std::size_t i = 0; i < strategies.size(); ++i) strategies[i].name = names[i];
  return strategies;
}

Problem problem_on(Backend backend) {
  Problem problem = problem_of_words();
  problem.backend = backend;
  return problem;
}

AnyChatModel nobody() {
  return AnyChatModel(RuleChat(std::vector<std::string>{"nothing"}));
}

/// The features of trial `i` as an evaluator might report them: the vectors' own, and what changes from one
/// measurement to the next though the kernel is the same.
Features features_of(std::uint64_t i) {
  Rng rng = Rng::stream(i, "features of a kernel");
  Features features;
  for (const Backend backend : {Backend::host, Backend::cuda}) {
    for (const std::string& name : systems::kernelband_profile(backend))
      features.set(name, rng.uniform(10, 60));
    for (const systems::KernelBandFeatures version :
         {systems::KernelBandFeatures::v1, systems::KernelBandFeatures::v2})
      for (const std::string& name : systems::kernelband_runtime(backend, version))
        features.set(name, rng.uniform(10, 60));
  }
  for (const char* name : {"temperature", "watts", "clock_mhz", "load.processes", "ncu.seconds"})
    features.set(name, 50);
  return features;
}

/// What the policy proposes, trial after trial, when `edit` has changed the features.
template <class Policy, class Edit>
std::vector<Move> decisions_of(Policy policy, Edit edit, std::size_t trials = 60) {
  std::vector<Move> moves;
  for (std::uint64_t i = 0; i < trials; ++i) {
    std::vector<Move> asked = policy.ask(1);
    if (asked.empty()) break;
    moves.push_back(asked.front());
    Rng rng = Rng::stream(i, "times of kernels");
    Observation<Move> told{asked.front(), {}};
    told.outcome.id = TrialId{i};
    told.outcome.origin = Origin{ProposalId{i}, 0, 1};
    told.outcome.parents = told.proposal.parents;
    told.outcome.objective = rng.uniform(5, 10);
    told.outcome.evaluation = Evaluation::succeeded(told.outcome.objective);
    told.outcome.evaluation.features = features_of(i);
    edit(told.outcome.evaluation.features, i);
    policy.tell(std::span<const Observation<Move>>(&told, 1));
  }
  return moves;
}
const auto as_it_is = [](Features&, std::uint64_t) {};

std::vector<Move> decisions_of(const systems::KernelBandSettings& settings, Backend backend) {
  return decisions_of(systems::kernelband_parts(nobody(), problem_on(backend), settings).first, as_it_is);
}

}  // namespace

TEST_CASE("systems: kernelband has the paper's settings and searches to the end of its budget") {
  systems::KernelBandSettings settings = systems::KernelBandSettings::v1();
  CHECK(settings.search.clusters == 3);
  CHECK(settings.search.exploration == 2.0);
  CHECK(settings.repairs == 0);
  CHECK(settings.rewriter.rewriter.temperature == 1.0);
  settings.rewriter.common.strategies = published_words();
  settings.loop.budget = std::make_shared<TrialBudget>(12);
  RuleChat chat{RuleChat::Rule(SkilledModel())};
  auto search = systems::kernelband(chat, problem_of_words(), KernelLandscape{}, settings);
  const RunSummary summary = search.run();
  CHECK(summary.trials == 12);
  REQUIRE(search.best() != nullptr);
  CHECK(search.best()->outcome.objective < 100);
  CHECK(chat.count("rewriter") >= 3);
  for (const auto& trial : search.trials())
    if (!trial.outcome.parents.empty()) CHECK(search.log().contains(trial.outcome.parents.front()));
}

TEST_CASE("systems: kernelband asks one question less than it has trials, also where conditions are false") {
  for (const char* version : versions) {
    CAPTURE(version);
    systems::KernelBandSettings settings = version_of(version);
    settings.repairs = 0;
    settings.rewriter.common.strategies = published_words();
    for (const std::size_t barred : {0, 2}) {
      settings.rewriter.common.strategies[barred].when = Expression::parse("1 > 2");
      settings.rewriter.common.strategies[barred].unless = "it never is";
    }
    settings.loop.budget = std::make_shared<TrialBudget>(8);
    int next = 0;
    RuleChat chat([&next](const ChatRequest& request) {
      const std::string kernel = SkilledModel::block_after(text_of(request), "# Kernel to change");
      std::string code = kernel;
      code.insert(code.rfind('}'), "  word" + std::to_string(next++) + "\n");
      return RuleChat::replied("```cpp device\n" + code + "```\n");
    });
    auto search = systems::kernelband(chat, problem_of_words(), KernelLandscape{}, settings);
    const RunSummary summary = search.run();
    CHECK(summary.trials == 8);
    CHECK(chat.requests().size() == 7);
    CHECK(search.trials().size() == 8);  // nor was one proposed that cost nothing
    for (const ChatRequest& request : chat.requests())
      for (const char* barred : {"tiling: Apply", "fusion: Apply"})
        CHECK(text_of(request).find(barred) == std::string::npos);
  }
}

TEST_CASE("systems: a counter changes what kernelband decides, a temperature does not") {
  for (const Backend backend : {Backend::host, Backend::cuda})
    for (const char* version : versions) {
      CAPTURE(version);
      CAPTURE(to_string(backend));
      const auto decided = [&](auto edit, systems::KernelBandSettings settings) {
        return decisions_of(systems::kernelband_parts(nobody(), problem_on(backend), settings).first, edit);
      };
      systems::KernelBandSettings settings = version_of(version);
      // No head of v1 learns in 60 trials (its buffer holds 32 pulls of one strategy), so it is warmed up,
      // as in the paper.
      const auto names = systems::kernelband_settled(settings, problem_on(backend)).search.strategies;
      for (std::uint64_t i = 0; i < 400; ++i) {
        const Features features = features_of(1000 + i);
        const double counter = *features.find(systems::kernelband_profile(backend)[i % 2]);
        settings.search.examples.push_back({features, names[i % names.size()], counter > 35 ? 0.2 : -1.0});
      }
      const std::vector<Move> usual = decided(as_it_is, settings);
      CHECK(usual.size() == 60);
      const auto hot = [](Features& features, std::uint64_t i) {
        Rng rng = Rng::stream(i, "weather");
        for (const char* name : {"temperature", "watts", "clock_mhz", "load.processes", "ncu.seconds"})
          features.set(name, rng.uniform(20, 90));
      };
      CHECK(decided(hot, settings) == usual);
      // Version 2 has no heads: what its clusters see are no counters, and its mask is of the signature.
      const bool v2 = settings.features == systems::KernelBandFeatures::v2;
      const auto counted = [&](Features& features, std::uint64_t i) {
        Rng rng = Rng::stream(i, "another kernel");
        const auto seen = v2 ? systems::kernelband_runtime(backend, settings.features)
                             : systems::kernelband_profile(backend);
        for (const std::string& name : seen) features.set(name, rng.uniform(10, 60));
      };
      CHECK(decided(counted, settings) != usual);
      systems::KernelBandSettings all = settings;  // which is how it was
      all.features = systems::KernelBandFeatures::all;
      CHECK(decided(hot, all) != decided(as_it_is, all));
    }
}

TEST_CASE("systems: v1 and v2 choose from the authors' six strategies, ours from all") {
  for (const Backend backend : {Backend::host, Backend::cuda}) {
    const auto& six = systems::published_strategies(backend);
    for (const char* version : versions) {
      CAPTURE(version);
      const auto settled = systems::kernelband_settled(version_of(version), problem_on(backend));
      const std::set<std::string> names(settled.search.strategies.begin(), settled.search.strategies.end());
      for (const std::string_view one : six) CHECK(names.count(std::string(one)) == 1);
      if (std::string(version) == "ours")
        CHECK(names.size() > 6);
      else
        CHECK(names.size() == 6);
      for (const Strategy& strategy : settled.rewriter.common.strategies) {
        CHECK(names.count(strategy.name) == 1);
        CHECK_FALSE(strategy.parts.empty());  // steps and knobs
      }
      std::set<std::string> tried;
      for (const Move& move : decisions_of(version_of(version), backend))
        if (!move.strategies.empty()) tried.insert(move.strategies.front());
      for (const std::string& one : tried) CHECK(names.count(one) == 1);
      CHECK(tried.size() >= (std::string(version) == "ours" ? 4 : 6));
    }
  }
  systems::KernelBandSettings own = systems::KernelBandSettings::v1();
  own.rewriter.common.strategies = {strategies_of_words()[3]};
  CHECK_THROWS_WITH_AS((void)systems::kernelband_settled(own, problem_of_words()),
                       doctest::Contains("take all"), ConfigError);
}

TEST_CASE("systems: the mask of v2 leaves out what relieves a saturated resource") {
  const auto settled =
      systems::kernelband_settled(systems::KernelBandSettings::v2(), problem_on(Backend::cuda));
  CHECK(settled.search.targets.size() == 6);
  CHECK(systems::kernelband_settled(systems::KernelBandSettings::v2(), problem_of_words())
            .search.targets.size() == 6);
  CHECK(systems::kernelband_settled(systems::KernelBandSettings::v1(), problem_on(Backend::cuda))
            .search.targets.empty());
  const auto tried = [](double busy) {
    auto parts =
        systems::kernelband_parts(nobody(), problem_on(Backend::cuda), systems::KernelBandSettings::v2());
    const std::vector<Move> moves =
        decisions_of(std::move(parts.first), [busy](Features& features, std::uint64_t) {
          features.set("sm_utilisation", busy);
          features.set("l2_utilisation", 10);
          features.set("dram_utilisation", 10);
        });
    std::size_t sm = 0;
    for (std::size_t i = 20; i < moves.size(); ++i)  // there are clusters by then
      sm += moves[i].strategy() == "pipelining" || moves[i].strategy() == "reordering" ? 1 : 0;
    return sm;
  };
  CHECK(tried(80) == 0);
  CHECK(tried(70) > 0);
}

TEST_CASE("systems: kernelband gives a kernel up after three unusable replies in a row, not after one") {
  using Without = systems::KernelBandAblation;
  for (const char* version : versions)
    for (const Without without : {Without::none, Without::strategies, Without::search}) {
      CAPTURE(version);
      CAPTURE(static_cast<int>(without));
      systems::KernelBandSettings settings = version_of(version);
      settings.without = without;
      auto policy = systems::kernelband_parts(nobody(), problem_on(Backend::host), settings).first;
      std::map<std::vector<std::string>, int> tries;
      for (std::uint64_t i = 0;; ++i) {
        const std::vector<Move> asked = policy.ask(1);
        if (asked.empty()) break;
        Observation<Move> told{asked.front(), {}};
        told.outcome.id = TrialId{i};
        told.outcome.origin = Origin{ProposalId{i}, 0, i == 0 ? 1u : 0u};
        told.outcome.parents = told.proposal.parents;
        if (i == 0) {
          told.outcome.objective = 5;
          told.outcome.evaluation = Evaluation::succeeded(5);
          told.outcome.evaluation.features = features_of(0);
        } else {
          told.outcome.evaluation = Evaluation::failed(Verdict::not_generated, "rewriter: no_code: talk");
          ++tries[asked.front().strategies];
        }
        policy.tell(std::span<const Observation<Move>>(&told, 1));
      }
      REQUIRE_FALSE(tries.empty());
      for (const auto& [strategies, count] : tries) CHECK(count == 3);
    }
}

TEST_CASE("systems: what kernelband is without") {
  const auto settled = [](systems::KernelBandAblation without, const char* version = "v1") {
    systems::KernelBandSettings settings = version_of(version);
    settings.without = without;
    return systems::kernelband_settled(settings, problem_on(Backend::cuda));
  };
  using Without = systems::KernelBandAblation;
  CHECK(settled(Without::clusters).search.clusters == 1);
  CHECK(settled(Without::clusters).search.alpha > 0);
  CHECK(settled(Without::heads).search.alpha == 0);
  CHECK(settled(Without::heads).search.clusters == 3);
  CHECK(settled(Without::profile, "v2").search.targets.empty());
  CHECK(settled(Without::profile, "v1").search.alpha == 0);
  CHECK(settled(Without::strategies).rewriter.common.strategies.size() == 6);  // to choose from
  CHECK(settled(Without::strategies).search.strategies.empty());
  CHECK(settled(Without::strategies, "ours").rewriter.common.strategies.size() > 6);
  for (const char* version : versions) {
    CAPTURE(version);
    const auto decided = [&](Without without) {
      systems::KernelBandSettings settings = version_of(version);
      settings.without = without;
      return decisions_of(settings, Backend::cuda);
    };
    const std::vector<Move> chosen = decided(Without::strategies), alone = decided(Without::search);
    std::set<std::uint64_t> parents;
    for (const Move& move : chosen) {
      CHECK(move.strategies.empty());
      if (!move.parents.empty()) parents.insert(number(move.parents.front()));
    }
    CHECK(parents.size() > 1);
    // The search agent alone rewrites the best kernel so far.
    std::vector<double> times;
    for (const Move& move : alone) {
      CHECK(move.strategies.empty());
      if (!move.parents.empty())
        CHECK(number(move.parents.front()) ==
              static_cast<std::uint64_t>(std::min_element(times.begin(), times.end()) - times.begin()));
      times.push_back(Rng::stream(times.size(), "times of kernels").uniform(5, 10));
    }
  }
}

TEST_CASE("systems: kernelband by name is what it is in code, version by version") {
  const SystemEntry& entry = find_system("kernelband");
  for (const Backend backend : {Backend::host, Backend::cuda}) {
    std::set<std::vector<std::string>> told;
    for (const char* version : versions) {
      CAPTURE(version);
      SystemSetup setup;
      setup.problem = problem_on(backend);
      setup.model = nobody();
      setup.seed = 3;
      const std::string json = std::string(R"({"variant": ")") + version + "\"}";
      setup.options = SystemOptions(entry.name, entry.options, json);
      SystemSearch made = entry.make(setup);
      const std::vector<Move> by_name =
          decisions_of(std::move(std::get<SearchParts<Move>>(made.parts).policy), as_it_is);
      systems::KernelBandSettings settings = version_of(version);
      settings.search.seed = 3;
      CHECK(by_name == decisions_of(settings, backend));
      CHECK(setup.options.count("repairs") == settings.repairs);
      std::vector<std::string> names;
      for (const Move& move : by_name) names.emplace_back(move.strategy());
      told.insert(names);
    }
    CHECK(told.size() == 3);
  }
}

TEST_CASE("systems: kernelband by name takes the weight of its heads and the moves that warm them up") {
  const SystemEntry& entry = find_system("kernelband");
  const auto decided = [&entry](const char* options, bool warm) {
    SystemSetup setup;
    setup.problem = problem_on(Backend::cuda);
    setup.model = nobody();
    setup.seed = 3;
    setup.options = SystemOptions(entry.name, entry.options, options);
    if (warm) {  // only the last strategy ever paid
      const std::string last(systems::published_strategies(Backend::cuda).back());
      for (const std::string_view name : systems::published_strategies(Backend::cuda))
        for (int i = 0; i < 40; ++i)
          setup.examples.push_back(
              {features_of(static_cast<std::uint64_t>(i)), std::string(name), name == last ? 0.5 : -1.0});
    }
    SystemSearch made = entry.make(setup);
    return decisions_of(std::move(std::get<SearchParts<Move>>(made.parts).policy), as_it_is);
  };
  const std::vector<Move> cold = decided(R"({"variant": "v1"})", false);
  CHECK(decided(R"({"variant": "v1"})", true) != cold);
  CHECK(decided(R"({"variant": "v1", "alpha": 0})", true) ==
        decided(R"({"variant": "v1", "without": "heads"})", true));
}

TEST_CASE("systems: kernelband mends a failure by one question, and counts the strategy by what was mended") {
  systems::KernelBandSettings settings;
  CHECK(settings.repairs == 1);
  settings.rewriter.common.strategies = {strategies_of_words()[1]};  // vectorize
  settings.loop.budget = std::make_shared<TrialBudget>(3);
  RuleChat chat([](const ChatRequest& request) {
    const bool mends = request.role == "debugger";
    return RuleChat::replied("```cpp device\nextern \"C\" void f() {\n  base\n  vectorize\n" +
                             std::string(mends ? "" : "  bug\n") + "}\n```\n");
  });
  auto search = systems::kernelband(chat, problem_of_words(), KernelLandscape{}, settings);
  search.run();
  REQUIRE(search.trials().size() == 3);
  CHECK_FALSE(search.trials()[1].outcome.ok());
  CHECK(search.trials()[2].outcome.ok());
  CHECK(search.trials()[2].outcome.parents == std::vector<TrialId>{TrialId{1}});
  const std::string asked = text_of(chat.requests().back());
  CHECK(asked.find("## How it failed") != std::string::npos);
  CHECK(asked.find("  bug\n") != std::string::npos);                      // the failed code
  CHECK(asked.find("vectorize: Apply vectorize.") != std::string::npos);  // and what was to be done
  CHECK(search.policy().inner().statistics(0, 0).pulls == 1);
  CHECK(search.policy().inner().statistics(0, 0).mean() > 0.0);
}
