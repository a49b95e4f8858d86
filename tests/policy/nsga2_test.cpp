// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/policy/nsga2.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernelsearch/policy/genetic_algorithm.hpp"
#include "kernelsearch/policy/random_search.hpp"
#include "support/policy_contract.hpp"
#include "support/search_driver.hpp"

using namespace kernelsearch;
using search_driver::grid;

namespace {

const auto make_nsga2 = [](const Space& space, std::uint64_t seed) {
  return Nsga2(space, {.seed = seed, .population = 8});
};

/// Time falls and energy rises along the first tunable; the others make both worse.
Evaluation trade_off(const Config& config) {
  double waste = 1;
  for (std::size_t i = 1; i < config.indices.size(); ++i) waste += config.indices[i];
  Evaluation evaluation =
      Evaluation::succeeded(waste * std::pow(2.0, -static_cast<double>(config.indices[0])));
  evaluation.features.set("energy_joules", waste * std::pow(2.0, static_cast<double>(config.indices[0])));
  return evaluation;
}

/// The share of the true front that a search finds: each value of the first tunable with no waste.
template <class Policy>
std::size_t found(Policy policy, const Objectives& objectives, std::size_t trials) {
  std::vector<bool> seen(8, false);
  for (std::size_t i = 0; i < trials; ++i) {
    const Config config = policy.ask(1).at(0);
    Observation<Config> told{config, {}};
    told.outcome.id = TrialId{i};
    told.outcome.origin = Origin{ProposalId{i}, 0, 1};
    told.outcome.evaluation = trade_off(config);
    told.outcome.objective = *objectives.try_judge(told.outcome.evaluation);
    policy.tell(std::span<const Observation<Config>>(&told, 1));
    if (std::all_of(config.indices.begin() + 1, config.indices.end(), [](auto index) { return index == 0; }))
      seen[config.indices[0]] = true;
  }
  return static_cast<std::size_t>(std::count(seen.begin(), seen.end(), true));
}

}  // namespace

TEST_CASE("Nsga2: keeps the contract of policies over spaces") {
  policy_contract::check(make_nsga2);
}

TEST_CASE("Nsga2: of one objective it needs fewer evaluations than random draws") {
  const std::size_t ours = policy_contract::evaluations_to_best(make_nsga2);
  const std::size_t random = policy_contract::evaluations_to_best(
      [](const Space& space, std::uint64_t seed) { return RandomSearch(space, {.seed = seed}); });
  CAPTURE(ours);
  CAPTURE(random);
  CHECK(4 * ours < 3 * random);
}

TEST_CASE("Nsga2: spreads along the front, which the scalar of both objectives does not tell apart") {
  const Space space = grid(4, 7);
  const Objectives objectives = Objectives::parse("time; energy_joules");
  std::size_t ours = 0, one_objective = 0, random = 0;
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    Nsga2Options options{.seed = seed, .default_first = false};
    options.objectives = objectives;
    ours += found(Nsga2(space, options), objectives, 250);
    one_objective += found(Nsga2(space, {.seed = seed, .default_first = false}), Objectives(), 250);
    random += found(RandomSearch(space, {.seed = seed, .default_first = false}), objectives, 250);
  }
  CAPTURE(ours);
  CAPTURE(one_objective);
  CAPTURE(random);
  CHECK(ours >= 26);  // of 32; 250 of 4096 random draws find 2 of them on average
  CHECK(ours > one_objective);
  CHECK(ours > 3 * random);
}

TEST_CASE("Nsga2: a trial whose objectives cannot be had is a failure, and leaves first") {
  const Space space = grid(2, 99);
  Nsga2Options options{.seed = 1, .default_first = false, .population = 2, .crossover = 0, .mutations = 0};
  options.objectives = Objectives::parse("time; energy_joules");
  Nsga2 policy(space, options);
  std::vector<Config> starts;
  for (std::size_t i = 0; i < 3; ++i) {
    const Config config = policy.ask(1).at(0);
    Observation<Config> told{config, {}};
    told.outcome.id = TrialId{i};
    told.outcome.origin = Origin{ProposalId{i}, 0, 1};
    told.outcome.evaluation = Evaluation::succeeded(1.0 + static_cast<double>(i));
    if (i != 0) told.outcome.evaluation.features.set("energy_joules", 1.0);
    told.outcome.objective = told.outcome.evaluation.measurement.seconds;
    policy.tell(std::span<const Observation<Config>>(&told, 1));
    if (i < 2) starts.push_back(config);
  }
  // The fastest has no energy: children are near the others.
  for (int i = 0; i < 20; ++i) CHECK(search_driver::differing(policy.ask(1).at(0), starts[0]) >= 1);
}
