// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/policy/differential_evolution.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <unordered_set>
#include <utility>
#include <vector>

#include "kernelsearch/policy/random_search.hpp"
#include "support/policy_contract.hpp"
#include "support/search_driver.hpp"

using namespace kernelsearch;
using search_driver::differing;
using search_driver::grid;
using search_driver::run;

namespace {
const auto make_differential_evolution = [](const Space& space, std::uint64_t seed) {
  return DifferentialEvolution(space, {.seed = seed, .population = 8});
};
}

TEST_CASE("DifferentialEvolution: keeps the contract of policies over spaces") {
  policy_contract::check(make_differential_evolution);
}

TEST_CASE("DifferentialEvolution: needs fewer evaluations than random draws") {
  const std::size_t ours = policy_contract::evaluations_to_best(make_differential_evolution);
  const std::size_t random = policy_contract::evaluations_to_best(
      [](const Space& space, std::uint64_t seed) { return RandomSearch(space, {.seed = seed}); });
  CAPTURE(ours);
  CAPTURE(random);
  CHECK(4 * ours < 3 * random);
}

TEST_CASE("DifferentialEvolution: a mutant is the base and a weighted difference of two members") {
  const Space space = grid(1, 100000);
  DifferentialEvolution policy(space,
                               {.seed = 3, .population = 4, .weight = 0.5, .crossover = 1, .greed = 0});
  const auto members = run(policy, 4, [](const Config&) { return 1.0; });
  const double mutant = policy.ask(1).at(0).indices[0];
  bool found = false;
  for (const Config& a : members)
    for (const Config& b : members)
      for (const Config& c : members) {
        const double wish = a.indices[0] + 0.5 * (double(b.indices[0]) - double(c.indices[0]));
        found |= b != c && std::abs(std::clamp(wish, 0.0, 100000.0) - mutant) < 1;
      }
  CHECK(found);
}

TEST_CASE("DifferentialEvolution: without weight a greedy mutant is the best, and so lands next to it") {
  const Space space = grid(5, 50);
  DifferentialEvolution policy(space, {.seed = 3, .population = 6, .weight = 0, .crossover = 1, .greed = 1});
  double time = 10;
  const auto starts = run(policy, 6, [&](const Config&) { return time -= 1; });
  for (const Config& config : run(
           policy, 30, [](const Config&) { return 20.0; }, 6))
    CHECK(differing(config, starts.back()) == 1);
}

TEST_CASE("DifferentialEvolution: small differences are not lost to rounding") {
  const Space space = grid(3, 1);
  DifferentialEvolution policy(space,
                               {.seed = 3, .population = 4, .weight = 0.4, .crossover = 1, .greed = 0});
  std::unordered_set<Config> seen;
  for (const Config& config : run(policy, 8, [](const Config&) { return 1.0; })) seen.insert(config);
  CHECK(seen.size() == 8);
}

TEST_CASE("DifferentialEvolution: a trial replaces its own target, and only when it is no slower") {
  const Space space = grid(6, 50);
  // With crossover 0 a trial keeps all but one of its target's values, so that targets can be told apart.
  DifferentialEvolution policy(space, {.seed = 3, .population = 5, .crossover = 0, .greed = 0});
  const auto starts = run(policy, 5, [](const Config&) { return 5.0; });
  const auto trials = run(
      policy, 5, [](const Config&) { return 9.0; }, 5);  // none replaces
  for (std::size_t i = 0; i < 5; ++i) CHECK(differing(trials[i], starts[i]) <= 1);
  const auto better = run(
      policy, 5, [](const Config&) { return 4.0; }, 10);  // all replace
  for (std::size_t i = 0; i < 5; ++i) CHECK(differing(better[i], starts[i]) <= 1);
  const auto next = run(
      policy, 5, [](const Config&) { return 9.0; }, 15);
  for (std::size_t i = 0; i < 5; ++i) CHECK(differing(next[i], better[i]) <= 1);
}

TEST_CASE("DifferentialEvolution: a population that no longer improves makes room for a fresh one") {
  const Space space = grid(6, 9);
  DifferentialEvolution policy(space, {.seed = 3, .default_first = false, .population = 5, .patience = 12});
  const auto sequence = run(policy, 30, [](const Config&) { return 1.0; });
  const auto random = RandomSearch(space, {.seed = 3}).ask(7);
  CHECK(std::equal(random.begin(), random.begin() + 5, sequence.begin()));
  // the first result is the only one that improves: then 12 more
  CHECK(std::find(sequence.begin(), sequence.begin() + 13, random[5]) == sequence.begin() + 13);
  CHECK(sequence[13] == random[5]);
  CHECK(sequence[14] == random[6]);
  DifferentialEvolution improving(space,
                                  {.seed = 3, .default_first = false, .population = 5, .patience = 12});
  std::size_t trial = 0;  // the seventh improves again
  const auto longer = run(improving, 30, [&](const Config&) { return ++trial == 7 ? 0.5 : 1.0; });
  CHECK(std::find(longer.begin(), longer.end(), random[5]) == longer.begin() + 19);
}

TEST_CASE("DifferentialEvolution: foreign results take the place of random first points") {
  const Space space = grid(6, 99);
  DifferentialEvolution policy(space, {.seed = 3, .default_first = false, .population = 5});
  Rng rng(9);
  for (std::uint64_t i = 0; i < 5; ++i)
    search_driver::tell(policy, space.sample(rng), 10.0 + double(i), 100 + i, std::nullopt);
  CHECK(policy.ask(1).at(0) != RandomSearch(space, {.seed = 3}).ask(1).at(0));
}

TEST_CASE("DifferentialEvolution: a fresh population is not filled with what others know") {
  const Space space = grid(6, 9);
  const auto random = RandomSearch(space, {.seed = 3}).ask(7);
  for (const double objective : {2.0, 0.5}) {  // worse and better than the best so far
    DifferentialEvolution policy(space, {.seed = 3, .default_first = false, .population = 5, .patience = 12});
    (void)run(policy, 13, [](const Config&) { return 1.0; });
    Rng rng(9);
    for (std::uint64_t i = 0; i < 5; ++i)
      search_driver::tell(policy, space.sample(rng), objective - 0.01 * double(i), 100 + i, std::nullopt);
    CHECK((policy.ask(1).at(0) == random[5]) == (objective > 1));
  }
}
