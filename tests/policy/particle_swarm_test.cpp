// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/policy/particle_swarm.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "kernelsearch/policy/random_search.hpp"
#include "support/policy_contract.hpp"
#include "support/search_driver.hpp"

using namespace kernelsearch;
using search_driver::grid;
using search_driver::run;

namespace {
const auto make_particle_swarm = [](const Space& space, std::uint64_t seed) {
  return ParticleSwarm(space, {.seed = seed, .particles = 6});
};
}

TEST_CASE("ParticleSwarm: keeps the contract of policies over spaces") {
  policy_contract::check(make_particle_swarm);
}

TEST_CASE("ParticleSwarm: needs fewer evaluations than random draws") {
  const std::size_t ours = policy_contract::evaluations_to_best(make_particle_swarm);
  const std::size_t random = policy_contract::evaluations_to_best(
      [](const Space& space, std::uint64_t seed) { return RandomSearch(space, {.seed = seed}); });
  CAPTURE(ours);
  CAPTURE(random);
  CHECK(4 * ours < 3 * random);
}

TEST_CASE("ParticleSwarm: without inertia a particle flies towards the best") {
  const Space space = grid(4, 100000);
  ParticleSwarm policy(space, {.seed = 3, .particles = 5, .inertia = 0, .own = 0, .common = 1});
  double time = 10;
  const auto starts = run(policy, 5, [&](const Config&) { return time -= 1; });
  const auto flown = run(
      policy, 4, [](const Config&) { return 20.0; }, 5);
  for (std::size_t i = 0; i < 4; ++i)
    for (std::size_t t = 0; t < 4; ++t) {
      const auto [low, high] = std::minmax(starts[i].indices[t], starts.back().indices[t]);
      CHECK(flown[i].indices[t] + 1 >= low);
      CHECK(flown[i].indices[t] <= high + 1);
      CHECK(flown[i].indices[t] != starts[i].indices[t]);
    }
}

TEST_CASE("ParticleSwarm: a particle hears of its neighbours in the ring alone") {
  const Space space = grid(4, 100000);
  ParticleSwarm policy(space,
                       {.seed = 3, .particles = 7, .inertia = 0, .own = 0, .common = 1, .informants = 1});
  double time = 10;
  const auto starts = run(policy, 7, [&](const Config&) { return time -= 1; });
  const auto flown = run(
      policy, 6, [](const Config&) { return 20.0; }, 7);
  for (std::size_t i = 0; i < 6; ++i) {
    const Config& informant = starts[i == 0 ? 6 : i + 1];  // the best is last, and next to the first
    for (std::size_t t = 0; t < 4; ++t) {
      const auto [low, high] = std::minmax(starts[i].indices[t], informant.indices[t]);
      CHECK(flown[i].indices[t] + 1 >= low);
      CHECK(flown[i].indices[t] <= high + 1);
    }
  }
}

TEST_CASE("ParticleSwarm: a particle's own best draws it too") {
  const Space space = grid(1, 1000000);
  ParticleSwarm policy(space, {.seed = 3,
                               .default_first = false,
                               .particles = 1,
                               .inertia = 0.5,
                               .own = 1,
                               .common = 0,
                               .patience = 1000});
  const double best = run(policy, 1, [](const Config&) { return 1.0; }).at(0).indices[0];
  const auto path = run(
      policy, 14, [](const Config&) { return 2.0; }, 1);
  // With half of its speed left after each flight it would end twice as far away as its first flight took it.
  const double first = path[0].indices[0] - best;
  REQUIRE(std::abs(first) > 1000);
  REQUIRE(best + 2 * first > 0);
  REQUIRE(best + 2 * first < 1000000);
  for (std::size_t i = 9; i < path.size(); ++i)
    CHECK(std::abs(path[i].indices[0] - best) < 0.5 * std::abs(first));
}

TEST_CASE("ParticleSwarm: along categories it jumps to what draws it") {
  std::vector<std::string> names;
  for (int i = 0; i < 40; ++i) names.push_back("name" + std::to_string(i));
  SpaceBuilder builder;
  for (int i = 0; i < 6; ++i) builder.add(Tunable::categorical("c" + std::to_string(i), names));
  ParticleSwarm policy(builder.build(), {.seed = 3, .particles = 4, .inertia = 0.5, .own = 0, .common = 2});
  double time = 10;
  const auto starts = run(policy, 4, [&](const Config&) { return time -= 1; });
  const auto flown = run(
      policy, 3, [](const Config&) { return 20.0; }, 4);
  for (std::size_t i = 0; i < 3; ++i) {
    std::size_t strange = 0;
    for (std::size_t t = 0; t < 6; ++t)
      strange += flown[i].indices[t] != starts[i].indices[t] && flown[i].indices[t] != starts[3].indices[t];
    CHECK(strange <= 1);  // one where the place was known already
  }
}

TEST_CASE("ParticleSwarm: a population that no longer improves makes room for a fresh one") {
  const Space space = grid(6, 9);
  ParticleSwarm policy(space, {.seed = 3, .default_first = false, .particles = 5, .patience = 12});
  const auto sequence = run(policy, 30, [](const Config&) { return 1.0; });
  const auto random = RandomSearch(space, {.seed = 3}).ask(7);
  CHECK(std::equal(random.begin(), random.begin() + 5, sequence.begin()));
  // the first result is the only one that improves: then 12 more
  CHECK(std::find(sequence.begin(), sequence.begin() + 13, random[5]) == sequence.begin() + 13);
  CHECK(sequence[13] == random[5]);
  CHECK(sequence[14] == random[6]);
  ParticleSwarm improving(space, {.seed = 3, .default_first = false, .particles = 5, .patience = 12});
  std::size_t trial = 0;  // the seventh improves again
  const auto longer = run(improving, 30, [&](const Config&) { return ++trial == 7 ? 0.5 : 1.0; });
  CHECK(std::find(longer.begin(), longer.end(), random[5]) == longer.begin() + 19);
}

TEST_CASE("ParticleSwarm: foreign results take the place of random first points") {
  const Space space = grid(6, 99);
  ParticleSwarm policy(space, {.seed = 3, .default_first = false, .particles = 5});
  Rng rng(9);
  for (std::uint64_t i = 0; i < 5; ++i)
    search_driver::tell(policy, space.sample(rng), 10.0 + double(i), 100 + i, std::nullopt);
  CHECK(policy.ask(1).at(0) != RandomSearch(space, {.seed = 3}).ask(1).at(0));
}

TEST_CASE("ParticleSwarm: a fresh population is not filled with what others know") {
  const Space space = grid(6, 9);
  const auto random = RandomSearch(space, {.seed = 3}).ask(7);
  for (const double objective : {2.0, 0.5}) {  // worse and better than the best so far
    ParticleSwarm policy(space, {.seed = 3, .default_first = false, .particles = 5, .patience = 12});
    (void)run(policy, 13, [](const Config&) { return 1.0; });
    Rng rng(9);
    for (std::uint64_t i = 0; i < 5; ++i)
      search_driver::tell(policy, space.sample(rng), objective - 0.01 * double(i), 100 + i, std::nullopt);
    CHECK((policy.ask(1).at(0) == random[5]) == (objective > 1));
  }
}
