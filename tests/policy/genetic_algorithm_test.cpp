// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/policy/genetic_algorithm.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "kernelsearch/policy/random_search.hpp"
#include "support/approx.hpp"
#include "support/policy_contract.hpp"
#include "support/search_driver.hpp"

using namespace kernelsearch;
using kernelsearch::test::approx;
using search_driver::differing;
using search_driver::grid;
using search_driver::run;

namespace {
constexpr double genetic_algorithm_infinity = std::numeric_limits<double>::infinity();
const auto make_genetic_algorithm = [](const Space& space, std::uint64_t seed) {
  return GeneticAlgorithm(space, {.seed = seed, .population = 8});
};
}  // namespace

TEST_CASE("GeneticAlgorithm: keeps the contract of policies over spaces") {
  policy_contract::check(make_genetic_algorithm);
}

TEST_CASE("GeneticAlgorithm: needs fewer evaluations than random draws") {
  const std::size_t ours = policy_contract::evaluations_to_best(make_genetic_algorithm);
  const std::size_t random = policy_contract::evaluations_to_best(
      [](const Space& space, std::uint64_t seed) { return RandomSearch(space, {.seed = seed}); });
  CAPTURE(ours);
  CAPTURE(random);
  CHECK(4 * ours < 3 * random);
}

TEST_CASE("GeneticAlgorithm: a child without mutation has its values from the survivors") {
  const Space space = grid(8, 99);
  GeneticAlgorithm policy(space, {.seed = 3, .population = 6, .crossover = 1, .mutations = 0});
  const auto parents = run(policy, 6, [](const Config&) { return 1.0; });
  const Config child = policy.ask(1).at(0);
  std::size_t most = 0;
  for (std::size_t t = 0; t < 8; ++t) {
    CHECK(std::any_of(parents.begin(), parents.end(),
                      [&](const Config& parent) { return parent.indices[t] == child.indices[t]; }));
  }
  for (const Config& parent : parents) most = std::max(most, 8 - differing(parent, child));
  CHECK(most < 8);
  CHECK(most > 0);
}

TEST_CASE("GeneticAlgorithm: tournaments prefer the fast, and failures leave first") {
  const Space space = grid(8, 99);
  GeneticAlgorithm policy(space,
                          {.seed = 3, .population = 6, .tournament = 50, .crossover = 0, .mutations = 1});
  double time = 10;
  const auto starts = run(policy, 6, [&](const Config&) { return time -= 1; });  // the last is the fastest
  double distance = 0;
  for (const Config& child : run(
           policy, 30, [](const Config&) { return genetic_algorithm_infinity; }, 6))
    distance += static_cast<double>(differing(child, starts.back()));
  CHECK(distance / 30 < 2.5);  // one mutation on average, and a step more where that is known
}

TEST_CASE("GeneticAlgorithm: a member that turns out wrong is no parent any more") {
  const Space space = grid(8, 99);
  GeneticAlgorithm policy(
      space, {.seed = 3, .population = 2, .tournament = 50, .crossover = 0, .mutations = 0, .patience = 0});
  const auto starts = run(
      policy, 2, [first = true](const Config&) mutable { return std::exchange(first, false) ? 1.0 : 2.0; });
  CHECK(differing(run(
                      policy, 1, [](const Config&) { return 9.0; }, 2)
                      .at(0),
                  starts[0]) == 1);
  search_driver::tell(policy, starts[0], genetic_algorithm_infinity, 0, 0);
  CHECK(differing(policy.ask(1).at(0), starts[1]) == 1);
}

TEST_CASE("GeneticAlgorithm: mutations are as many as asked for, on average") {
  const Space space = grid(10, 999);
  GeneticAlgorithm policy(
      space, {.seed = 3, .population = 2, .tournament = 50, .crossover = 0, .mutations = 4, .patience = 0});
  const auto starts = run(
      policy, 2, [first = true](const Config&) mutable { return std::exchange(first, false) ? 1.0 : 2.0; });
  double distance = 0;
  for (const Config& child : run(
           policy, 400, [](const Config&) { return 3.0; }, 2))
    distance += static_cast<double>(differing(child, starts[0]));
  CHECK(distance / 400 == approx(4).epsilon(0.1));
}

TEST_CASE("GeneticAlgorithm: a population that no longer improves makes room for a fresh one") {
  const Space space = grid(6, 9);
  GeneticAlgorithm policy(space, {.seed = 3, .default_first = false, .population = 5, .patience = 12});
  const auto sequence = run(policy, 30, [](const Config&) { return 1.0; });
  const auto random = RandomSearch(space, {.seed = 3}).ask(7);
  CHECK(std::equal(random.begin(), random.begin() + 5, sequence.begin()));
  // the first result is the only one that improves: then 12 more
  CHECK(std::find(sequence.begin(), sequence.begin() + 13, random[5]) == sequence.begin() + 13);
  CHECK(sequence[13] == random[5]);
  CHECK(sequence[14] == random[6]);
  GeneticAlgorithm improving(space, {.seed = 3, .default_first = false, .population = 5, .patience = 12});
  std::size_t trial = 0;  // the seventh improves again
  const auto longer = run(improving, 30, [&](const Config&) { return ++trial == 7 ? 0.5 : 1.0; });
  CHECK(std::find(longer.begin(), longer.end(), random[5]) == longer.begin() + 19);
}

TEST_CASE("GeneticAlgorithm: foreign results take the place of random first points") {
  const Space space = grid(6, 99);
  GeneticAlgorithm policy(space, {.seed = 3, .default_first = false, .population = 5});
  Rng rng(9);
  for (std::uint64_t i = 0; i < 5; ++i)
    search_driver::tell(policy, space.sample(rng), 10.0 + double(i), 100 + i, std::nullopt);
  CHECK(policy.ask(1).at(0) != RandomSearch(space, {.seed = 3}).ask(1).at(0));
}

TEST_CASE("GeneticAlgorithm: a fresh population is not filled with what others know") {
  const Space space = grid(6, 9);
  const auto random = RandomSearch(space, {.seed = 3}).ask(7);
  for (const double objective : {2.0, 0.5}) {  // worse and better than the best so far
    GeneticAlgorithm policy(space, {.seed = 3, .default_first = false, .population = 5, .patience = 12});
    (void)run(policy, 13, [](const Config&) { return 1.0; });
    Rng rng(9);
    for (std::uint64_t i = 0; i < 5; ++i)
      search_driver::tell(policy, space.sample(rng), objective - 0.01 * double(i), 100 + i, std::nullopt);
    CHECK((policy.ask(1).at(0) == random[5]) == (objective > 1));
  }
}
