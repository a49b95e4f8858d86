// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/policy/helion_lfbo.hpp"

#include <doctest/doctest.h>

#include <set>

#include "support/policy_contract.hpp"

using namespace kernelsearch;

namespace {

/// A smaller population and fewer trees, so that the small space holds several generations.
HelionLfboOptions little(std::uint64_t seed) {
  HelionLfboOptions options = helion_lfbo_small(seed);
  options.initial = 12;
  options.neighbours = 30;
  options.trees = 15;
  return options;
}
const auto make_helion_lfbo = [](const Space& space, std::uint64_t seed) {
  return HelionLfbo(space, little(seed));
};

/// Proposals of one ask, answered.
std::vector<Config> round(HelionLfbo& policy, const Space& space, std::uint64_t& id) {
  const std::vector<Config> batch = policy.ask(1000);
  for (const Config& config : batch) {
    policy_contract::tell(policy, policy_contract::observe(space, config, id, id));
    ++id;
  }
  return batch;
}

}  // namespace

TEST_CASE("HelionLfbo: keeps the contract of policies over spaces") {
  policy_contract::check(make_helion_lfbo);
}

TEST_CASE("HelionLfbo: keeps it in its other forms") {
  policy_contract::check([](const Space& space, std::uint64_t seed) {
    HelionLfboOptions options = little(seed);
    options.proposals = HelionProposals::pattern;
    options.learn_violations = false;
    return HelionLfbo(space, options);
  });
}

TEST_CASE("HelionLfbo: needs fewer evaluations than random draws") {
  const std::size_t ours = policy_contract::evaluations_to_best(make_helion_lfbo);
  const std::size_t random = policy_contract::evaluations_to_best(
      [](const Space& space, std::uint64_t seed) { return RandomSearch(space, {.seed = seed}); });
  CAPTURE(ours);
  CAPTURE(random);
  CHECK(3 * ours < 2 * random);
}

TEST_CASE("HelionLfbo: a population first, the default leading it, then a tenth of each copy's proposals") {
  SpaceBuilder builder;
  for (int i = 0; i < 8; ++i) builder.add(Tunable::integer("t" + std::to_string(i), 0, 7));
  const Space space = builder.build();
  HelionLfbo policy(space, {.seed = 1, .trees = 20});
  const auto time = [](const Config& config) {
    double sum = 1;
    for (const std::uint32_t index : config.indices) sum += std::abs(static_cast<double>(index) - 3);
    return sum;
  };
  std::uint64_t id = 0;
  const auto answer = [&](const std::vector<Config>& batch) {
    for (const Config& config : batch) {
      Observation<Config> observation{config, {}};
      observation.outcome.id = TrialId{id};
      observation.outcome.origin = Origin{ProposalId{id++}, 0, 1};
      observation.outcome.objective = time(config);
      observation.outcome.evaluation = Evaluation::succeeded(time(config));
      policy_contract::tell(policy, observation);
    }
  };
  std::vector<Config> batch = policy.ask(1000);
  CHECK(batch.size() == 100);
  CHECK(batch.front() == space.default_config());
  CHECK(policy.ask(1000).empty());  // whole generations at a time
  answer(batch);
  for (int generation = 1; generation <= 3; ++generation) {
    batch = policy.ask(1000);
    CHECK(!batch.empty());
    CHECK(batch.size() <= 5 * 19);  // int(0.10 * 201) less the incumbent, for each of five copies
    answer(batch);
  }
}

TEST_CASE("HelionLfbo: a single run ends by itself and polishes its best") {
  const Space space = policy_contract::small_space();
  HelionLfboOptions options = little(3);
  options.restart = false;
  HelionLfbo policy(space, options);
  std::uint64_t id = 0;
  std::set<Config> measured;
  while (true) {
    const std::vector<Config> batch = round(policy, space, id);
    if (batch.empty()) break;
    measured.insert(batch.begin(), batch.end());
  }
  CHECK(policy.ask(5).empty());
  CHECK(measured.size() < space.count().low());
  const Config& best =
      *std::min_element(measured.begin(), measured.end(), [&](const Config& a, const Config& b) {
        return policy_contract::time_of(space, a) < policy_contract::time_of(space, b);
      });
  for (const Config& next : Encoding(space).neighbours(best)) CHECK(measured.contains(next));
}

TEST_CASE("HelionLfbo: named block sizes and warps move in every random mutant") {
  const Space space = SpaceBuilder()
                          .add(Tunable::power_of_two("block", 1, 1024).with_default(std::int64_t{32}))
                          .add(Tunable::power_of_two("warps", 1, 32).with_default(std::int64_t{4}))
                          .add(Tunable::integer("other", 0, 30).with_default(std::int64_t{15}))
                          .build();
  HelionLfboOptions options;
  options.seed = 2;
  options.initial = 1;
  options.copies = 1;
  options.trees = 5;
  options.block_sizes = {"block"};
  options.warps = "warps";
  HelionLfbo policy(space, options);
  const std::vector<Config> first = policy.ask(100);
  std::uint64_t id = 0;
  for (const Config& config : first) {
    Observation<Config> observation{config, {}};
    observation.outcome.origin = Origin{ProposalId{id++}, 0, 1};
    observation.outcome.objective = config == first[0] ? 1.0 : 2.0;
    observation.outcome.evaluation = Evaluation::succeeded(observation.outcome.objective);
    policy_contract::tell(policy, observation);
  }
  const std::vector<Config> mutants = policy.ask(100);
  CHECK(mutants.size() > 2);
  for (const Config& config : mutants) {
    CHECK(config.indices[0] != first[0].indices[0]);
    CHECK(config.indices[1] != first[0].indices[1]);
  }
  options.warps = "wraps";
  CHECK_THROWS_AS(HelionLfbo(space, options), ConfigError);
}
