// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/policy/iterated_local_search.hpp"

#include <doctest/doctest.h>

#include "support/policy_contract.hpp"

using namespace kernelsearch;

namespace {
const auto make_iterated_local_search = [](const Space& space, std::uint64_t seed) {
  return IteratedLocalSearch(space, {.seed = seed, .initial = 4});
};
}

TEST_CASE("IteratedLocalSearch: keeps the contract of policies over spaces") {
  policy_contract::check(make_iterated_local_search);
}

TEST_CASE("IteratedLocalSearch: needs far fewer evaluations than random draws") {
  const std::size_t ours = policy_contract::evaluations_to_best(make_iterated_local_search);
  const std::size_t random = policy_contract::evaluations_to_best(
      [](const Space& space, std::uint64_t seed) { return RandomSearch(space, {.seed = seed}); });
  CAPTURE(ours);
  CAPTURE(random);
  CHECK(2 * ours < random);
}

TEST_CASE("IteratedLocalSearch: after the first points it proposes neighbours of the best") {
  const Space space = policy_contract::small_space();
  IteratedLocalSearch policy(space, {.seed = 1, .initial = 3});
  const auto first = policy.ask(3);
  REQUIRE(first.size() == 3);
  CHECK(first[0] == space.default_config());
  CHECK(policy.ask(1).empty());  // waits for the first points
  std::size_t best = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    policy_contract::tell(policy, policy_contract::observe(space, first[i], i, i));
    if (policy_contract::time_of(space, first[i]) < policy_contract::time_of(space, first[best])) best = i;
  }
  for (const Config& config : policy.ask(5)) {
    std::size_t differing = 0;
    for (std::size_t t = 0; t < space.size(); ++t)
      differing += config.indices[t] != first[best].indices[t] ? 1 : 0;
    CHECK(differing == 1);
  }
}

TEST_CASE("IteratedLocalSearch: a best that turns out wrong is no longer searched around") {
  const Space space = policy_contract::small_space();
  IteratedLocalSearch policy(space, {.seed = 1, .initial = 2});
  const auto first = policy.ask(2);
  policy_contract::tell(policy, policy_contract::observe(space, first[0], 0, 0));
  policy_contract::tell(policy, policy_contract::observe(space, first[1], 1, 1));
  auto fraud = policy_contract::observe(space, first[0], 0, 0);
  fraud.outcome.evaluation = Evaluation::failed(Verdict::cheated, "found late");
  fraud.outcome.objective = std::numeric_limits<double>::infinity();
  policy_contract::tell(policy, fraud);
  CHECK(policy.ask(1).size() == 1);
}

TEST_CASE(
    "IteratedLocalSearch: from local optima it leaps around the best one, which a worse one does not "
    "replace") {
  SpaceBuilder builder;
  for (const char* name : {"a", "b", "c", "d", "e", "f", "g", "h"}) builder.add(Tunable::integer(name, 0, 2));
  const Space space = builder.build();
  IteratedLocalSearch policy(
      space, {.seed = 3, .initial = 1, .perturbation = 2, .restart_after = 1000, .max_neighbours = 4});
  std::size_t leaps = 0;
  for (std::uint64_t t = 0; t < 80; ++t) {
    const Config config = policy.ask(1).at(0);
    std::size_t moved = 0;
    for (std::size_t i = 0; i < space.size(); ++i)
      moved += config.indices[i] != space.default_config().indices[i] ? 1 : 0;
    CHECK(moved <= 3);  // a leap of two steps, and its neighbours
    leaps += moved == 2 ? 1 : 0;
    Observation<Config> told = policy_contract::observe(space, config, t, t);
    told.outcome.objective =
        1.0 + static_cast<double>(t);  // slower and slower: the first point is the best optimum
    told.outcome.evaluation = Evaluation::succeeded(told.outcome.objective);
    policy_contract::tell(policy, told);
  }
  CHECK(leaps > 5);
}
