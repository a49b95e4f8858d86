// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/policy/move_examples.hpp"

#include <doctest/doctest.h>

#include "kernelsearch/policy/registry.hpp"
#include "support/policy_contract.hpp"

using namespace kernelsearch;

namespace {

EarlierRun run_of(const Space& space) {
  EarlierRun run{"elsewhere", {}};
  space.for_each([&](const Config& config) {
    run.outcomes.push_back({config, 3 * policy_contract::time_of(space, config)});
  });
  return run;
}

}  // namespace

TEST_CASE("move_examples: pairs of configurations one strategy apart, with what the move was worth") {
  const Space space = policy_contract::small_space();
  const SpaceStrategies strategies(space);
  const std::vector<EarlierRun> runs{run_of(space), run_of(space)};
  const std::vector<MoveExample> examples = move_examples(strategies, runs, {.pairs = 400, .seed = 1});
  CHECK(examples.size() > 350);
  CHECK(examples.size() <= 400);
  std::size_t gains = 0, failures = 0;
  for (const MoveExample& example : examples) {
    CHECK(example.features.find("tunable:unroll").has_value());
    CHECK(example.reward >= -1.0);
    CHECK(example.reward < 1.0);
    gains += example.reward > 0.0;
    failures += example.reward == -1.0;
  }
  CHECK(gains > 50);
  CHECK(failures > 0);
  CHECK(move_examples(strategies, {}, {}).empty());
}

TEST_CASE("move_examples: hierarchical_ucb learns from earlier runs when it is made by name") {
  const Space space = policy_contract::small_space();
  const auto needed = [&](bool learn) {
    std::size_t sum = 0;
    for (std::uint64_t seed = 0; seed < 15; ++seed) {
      PolicySetup setup{space, seed};
      if (learn) setup.earlier = {run_of(space)};
      auto policy = make_config_policy("hierarchical_ucb", setup);
      const auto sequence = policy_contract::drive(policy, space, 1, 1);
      std::size_t best = 0;
      for (std::size_t i = 1; i < sequence.size(); ++i)
        if (policy_contract::time_of(space, sequence[i]) < policy_contract::time_of(space, sequence[best]))
          best = i;
      sum += best + 1;
    }
    return sum;
  };
  CHECK(needed(true) < needed(false));
}
