// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/systems/measured_moves.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "kernelsearch/agents/strategy.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/core/rng.hpp"
#include "kernelsearch/systems/kernelband.hpp"
#include "support/approx.hpp"
#include "support/scripted_kernels.hpp"
#include "support/scripted_model.hpp"

using namespace kernelsearch;
using namespace scripted;
using kernelsearch::test::approx;

namespace {

/// What the heads think of every strategy on a kernel with a drawn profile: the policy is told nothing else.
std::vector<double> opinions(systems::KernelBandSettings settings, std::uint64_t seed) {
  settings.search.seed = 7;
  settings = systems::kernelband_settled(std::move(settings), problem_of_words());
  HierarchicalUcb policy(settings.search);
  Observation<Move> root{policy.ask(1).at(0), {}};
  root.outcome.origin = Origin{ProposalId{0}, 0, 1};
  root.outcome.objective = 1.0;
  root.outcome.evaluation = Evaluation::succeeded(1.0);
  Rng rng = Rng::stream(seed, "profiles");
  for (const std::string& name : settings.search.profile_features)
    root.outcome.evaluation.features.set(name, rng.uniform(0.0, 100.0));
  policy.tell(std::span(&root, 1));
  std::vector<double> result;
  for (std::size_t s = 0; s < settings.search.strategies.size(); ++s)
    result.push_back(policy.compatibility(0, s));
  return result;
}

double farthest(const systems::KernelBandSettings& settings) {
  double most = 0.0;
  for (std::uint64_t seed = 0; seed < 50; ++seed)
    for (const double p : opinions(settings, seed)) most = std::max(most, std::abs(p - 0.5));
  return most;
}

}  // namespace

TEST_CASE("measured moves: those that ship name strategies that there are, and have gains and losses") {
  for (const char* backend : {"cuda", "host"}) {
    const std::vector<std::string> known = strategy_names(read_strategies(backend));
    const std::vector<MeasuredMove> moves = measured_moves(backend);
    CHECK(moves.size() >= 9);
    std::set<std::string> problems;
    for (const MeasuredMove& move : moves) {
      CAPTURE(move.example.strategy);
      CHECK(std::find(known.begin(), known.end(), move.example.strategy) != known.end());
      CHECK(move.gain > 0);
      if (move.example.reward != 0)
        CHECK(move.example.reward == approx(std::max(-1.0, 1 - 1 / move.gain)).epsilon(0.01).scale(1));
      else
        CHECK(move.gain == approx(1.0).epsilon(0.021).scale(1));
      problems.insert(move.problem);
    }
    CHECK(problems.size() >= 6);
  }
  const std::vector<MeasuredMove> cuda = measured_moves("cuda");
  CHECK(std::any_of(cuda.begin(), cuda.end(),
                    [](const MeasuredMove& move) { return move.example.reward < 0; }));
}

TEST_CASE("measured moves: a user's file joins them, and one that is no list is refused with its name") {
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / "kernelsearch_measured_moves";
  std::filesystem::create_directories(folder / "moves");
  std::ofstream(folder / "moves/mine.json")
      << R"({"schema": 1, "moves": [{"backend": "host", "problem": "p", "kernel": "k", "strategy": "tiling",
           "gain": 2, "reward": 0.5, "features": {"code.loop.fma": 3}}]})";
  const std::vector<MeasuredMove> moves = measured_moves("host", folder);
  CHECK(moves.size() == measured_moves("host").size() + 1);
  std::ofstream(folder / "moves/mine.json") << "[1]";
  CHECK_THROWS_WITH_AS((void)measured_moves("host", folder), doctest::Contains("mine.json"), ConfigError);
  std::filesystem::remove_all(folder);
}

TEST_CASE("kernelband: v1 is warmed up by the paper's phase, after which heads are close to one half") {
  CHECK(systems::KernelBandSettings::v1().warm_up == systems::KernelBandWarmUp::synthetic);
  CHECK(systems::KernelBandSettings::v2().warm_up == systems::KernelBandWarmUp::none);
  const systems::KernelBandSettings settled =
      systems::kernelband_settled(systems::KernelBandSettings::v1(), problem_of_words());
  CHECK(settled.search.examples.size() == 1000);
  const double most = farthest(systems::KernelBandSettings::v1());
  CHECK(most > 0.01);  // they are not idle
  CHECK(most < 0.25);
  systems::KernelBandSettings without = systems::KernelBandSettings::v1();
  without.warm_up = systems::KernelBandWarmUp::none;
  CHECK(farthest(without) == 0.0);
}

TEST_CASE(
    "kernelband: a strategy gains more often in the paper's phase where what it relieves is little used") {
  const std::vector<std::string> strategies{"tiling", "fusion"}, profile{"memory_utilisation"};
  const std::vector<StrategyTarget> targets{{"tiling", "memory_utilisation"}};
  std::array<std::array<double, 2>, 2> gained{}, tried{};  // by strategy, by use below and above one half
  for (const MoveExample& move : synthetic_moves(strategies, targets, profile, 3, 20000)) {
    const std::size_t s = move.strategy == "tiling" ? 0 : 1;
    const std::size_t used = *move.features.find("memory_utilisation") > 50 ? 1 : 0;
    tried[s][used] += 1;
    gained[s][used] += move.reward > 0 ? 1 : 0;
  }
  CHECK(gained[0][0] / tried[0][0] == approx(0.55).epsilon(0.01).scale(1));
  CHECK(gained[0][1] / tried[0][1] == approx(0.45).epsilon(0.01).scale(1));
  CHECK(gained[1][0] / tried[1][0] == approx(0.5).epsilon(0.01).scale(1));
  CHECK(gained[1][1] / tried[1][1] == approx(0.5).epsilon(0.01).scale(1));
}

TEST_CASE("kernelband: heads are warmed up by what was measured elsewhere, unless earlier runs say more") {
  systems::KernelBandSettings settings;
  CHECK(systems::kernelband_settled(settings, problem_of_words()).search.examples.empty());
  settings.warm_up = systems::KernelBandWarmUp::measured;
  CHECK(systems::kernelband_settled(settings, problem_of_words()).search.examples.size() ==
        measured_moves("host").size());
  settings.search.examples = {{{}, "tiling", 0.5}};
  CHECK(systems::kernelband_settled(settings, problem_of_words()).search.examples.size() == 1);
  settings.search.examples.clear();
  settings.search.alpha = 0.0;
  CHECK(systems::kernelband_settled(settings, problem_of_words()).search.examples.empty());
}
