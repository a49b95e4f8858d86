// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/policy/lfbo.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/policy/helion_lfbo.hpp"
#include "support/policy_contract.hpp"

using namespace kernelsearch;

namespace {

const auto make_lfbo = [](const Space& space, std::uint64_t seed) {
  return Lfbo(space, {.seed = seed, .trees = 20});
};

Observation<Config> timed(const Config& config, std::uint64_t id, std::optional<std::uint64_t> proposal,
                          double seconds) {
  Observation<Config> observation{config, {}};
  observation.outcome.id = TrialId{id};
  if (proposal) observation.outcome.origin = Origin{ProposalId{*proposal}, 0, 1};
  observation.outcome.evaluation = Evaluation::succeeded(seconds);
  observation.outcome.objective = seconds;
  return observation;
}

Space grid() {
  return SpaceBuilder().add(Tunable::integer("a", 0, 15)).add(Tunable::integer("b", 0, 15)).build();
}

/// Twenty proposals one by one of a policy that was told a bowl around (4, 4), with failures or slow runs
/// wherever a > 7; how many of them have a > 7.
std::size_t beyond(bool failures) {
  const Space space = grid();
  Lfbo policy(space, {.seed = 1, .initial = 1, .random_share = 0, .stagnation = 1000000});
  std::uint64_t id = 0;
  const auto answer = [&](const Config& config, std::optional<std::uint64_t> proposal) {
    const double a = config.indices[0], b = config.indices[1];
    auto observation = timed(config, id++, proposal, 1 + std::abs(a - 4) + std::abs(b - 4));
    if (a > 7) {
      if (failures) {
        observation.outcome.evaluation = Evaluation::failed(Verdict::crashed, "test");
        observation.outcome.objective = std::numeric_limits<double>::infinity();
      } else {
        observation.outcome.objective = 0.5;
      }
    }
    policy_contract::tell(policy, observation);
  };
  for (std::uint32_t a = 0; a < 16; a += 3)
    for (std::uint32_t b = 0; b < 16; b += 3) answer({{a, b}}, std::nullopt);
  std::size_t count = 0;
  for (std::uint64_t i = 0; i < 20; ++i) {
    const std::vector<Config> proposal = policy.ask(1);
    REQUIRE(proposal.size() == 1);
    count += proposal[0].indices[0] > 7 ? 1 : 0;
    answer(proposal[0], i);
  }
  return count;
}

}  // namespace

TEST_CASE("Lfbo: keeps the contract of policies over spaces") {
  policy_contract::check(make_lfbo);
}

TEST_CASE("Lfbo: needs far fewer evaluations than random draws and than Helion's") {
  const std::size_t ours = policy_contract::evaluations_to_best(make_lfbo);
  const std::size_t random = policy_contract::evaluations_to_best(
      [](const Space& space, std::uint64_t seed) { return RandomSearch(space, {.seed = seed}); });
  const std::size_t helion = policy_contract::evaluations_to_best(
      [](const Space& space, std::uint64_t seed) { return HelionLfbo(space, helion_lfbo_small(seed)); });
  CAPTURE(ours);
  CAPTURE(random);
  CAPTURE(helion);
  CHECK(2 * ours < random);
  CHECK(ours < helion);
}

TEST_CASE("Lfbo: learns from failures") {
  CHECK(beyond(true) <= 2);
  CHECK(beyond(false) >= 15);  // the same places are sought where they are fast
}

TEST_CASE("Lfbo: first points are spread out") {
  const Space space = grid();
  const auto spread = [](const std::vector<Config>& configs) {
    double least = 1e9;
    for (std::size_t i = 0; i < configs.size(); ++i)
      for (std::size_t j = 0; j < i; ++j)
        least = std::min(least, std::hypot(1.0 * configs[i].indices[0] - configs[j].indices[0],
                                           1.0 * configs[i].indices[1] - configs[j].indices[1]));
    return least;
  };
  double ours = 0, random = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    ours += spread(Lfbo(space, {.seed = seed, .budget = 66}).ask(6));
    random += spread(RandomSearch(space, {.seed = seed}).ask(6));
  }
  CHECK(ours > 1.5 * random);
}

TEST_CASE("Lfbo: follows the latest measurement of a configuration") {
  const Space space = grid();
  std::size_t near_first = 0, near_second = 0;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    Lfbo policy(space, {.seed = seed, .initial = 1, .random_share = 0, .stagnation = 1000000});
    std::uint64_t id = 0;
    for (std::uint32_t a = 0; a < 16; a += 5)
      for (std::uint32_t b = 0; b < 16; b += 5) {
        policy_contract::tell(policy,
                              timed({{a, b}}, id, std::nullopt, a == 0 && b == 0 ? 1.0 : 5.0 - 0.1 * a));
        ++id;
      }
    const auto near = [](const Config& c, std::uint32_t a, std::uint32_t b) {
      return std::abs(1.0 * c.indices[0] - a) + std::abs(1.0 * c.indices[1] - b) <= 5 ? 1U : 0U;
    };
    near_first += near(policy.ask(1)[0], 0, 0);
    policy_contract::tell(policy, timed({{0, 0}}, 0, std::nullopt, 50.0));  // it was a mistake
    near_second += near(policy.ask(1)[0], 0, 0);
  }
  CHECK(near_first >= 7);
  CHECK(near_second <= 3);
}

TEST_CASE("Lfbo: proposals asked for together are less alike than the penalty allows") {
  const Space space = grid();
  const auto distinct_rows = [&](double penalty) {
    std::size_t count = 0;
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
      Lfbo policy(space, {.seed = seed, .initial = 1, .random_share = 0, .similarity_penalty = penalty});
      std::uint64_t id = 0;
      Rng rng(seed);
      for (int i = 0; i < 40; ++i) {
        const Config config = space.sample(rng);
        policy_contract::tell(policy,
                              timed(config, id++, std::nullopt, 1 + std::abs(config.indices[0] - 8.0)));
      }
      std::set<std::uint32_t> rows;
      for (const Config& config : policy.ask(8)) rows.insert(config.indices[0]);
      count += rows.size();
    }
    return count;
  };
  CHECK(distinct_rows(3) > distinct_rows(0));
}

TEST_CASE("Lfbo: objectives at or below zero are no reason to stop") {
  const Space space = grid();
  Lfbo policy(space, {.seed = 1, .initial = 4});
  double best = 1e9;
  for (std::uint64_t i = 0; i < 60; ++i) {
    const Config config = policy.ask(1).at(0);
    const double value = -20.0 + std::abs(config.indices[0] - 9.0) + std::abs(config.indices[1] - 3.0);
    best = std::min(best, value);
    policy_contract::tell(policy, timed(config, i, i, value));
  }
  CHECK(best == -20);
}

TEST_CASE("Lfbo: options that cannot work are refused") {
  CHECK_THROWS_AS(Lfbo(policy_contract::small_space(), {.trees = 0}), ConfigError);
  CHECK_THROWS_AS(Lfbo(policy_contract::small_space(), {.incumbents = 0}), ConfigError);
}
