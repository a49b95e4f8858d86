// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/policy/greedy_search.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
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
constexpr double greedy_search_infinity = std::numeric_limits<double>::infinity();
const auto make_greedy_search = [](const Space& space, std::uint64_t seed) {
  return GreedySearch(space, {.seed = seed, .starts = 4});
};
}  // namespace

TEST_CASE("GreedySearch: keeps the contract of policies over spaces") {
  policy_contract::check(make_greedy_search);
}

TEST_CASE("GreedySearch: needs fewer evaluations than random draws") {
  const std::size_t ours = policy_contract::evaluations_to_best(make_greedy_search);
  const std::size_t random = policy_contract::evaluations_to_best(
      [](const Space& space, std::uint64_t seed) { return RandomSearch(space, {.seed = seed}); });
  CAPTURE(ours);
  CAPTURE(random);
  CHECK(3 * ours < 2 * random);
}

TEST_CASE(
    "GreedySearch: climbs from the best of the first points, to the best neighbour, all of them measured") {
  const Space space = grid(2, 20);
  const auto valley = [](const Config& c) {
    return 1 + std::abs(int(c.indices[0]) - 10) + 3.0 * std::abs(int(c.indices[1]) - 10);
  };
  GreedySearch policy(space, {.seed = 3, .default_first = false, .starts = 5});
  const auto starts = run(policy, 5, valley);
  const Config best = *std::min_element(
      starts.begin(), starts.end(), [&](const Config& a, const Config& b) { return valley(a) < valley(b); });
  const auto around = space.neighbours(best, Neighbourhood::adjacent);
  const auto measured = run(policy, around.size(), valley, 5);
  CHECK(std::is_permutation(measured.begin(), measured.end(), around.begin(), around.end()));
  const Config next = *std::min_element(
      around.begin(), around.end(), [&](const Config& a, const Config& b) { return valley(a) < valley(b); });
  const Config onwards = policy.ask(1).at(0);
  CHECK(differing(onwards, next) == 1);
  CHECK(differing(onwards, best) != 0);
}

TEST_CASE("GreedySearch: waits for the neighbours that are outstanding") {
  GreedySearch policy(grid(2, 20), {.seed = 3, .starts = 2});
  const auto starts = policy.ask(10);
  CHECK(starts.size() == 2);
  CHECK(policy.ask(1).empty());
}

TEST_CASE("GreedySearch: at a local optimum it begins afresh at random points") {
  const Space space = grid(2, 50);
  GreedySearch policy(space, {.seed = 3, .default_first = false, .starts = 2});
  RandomSearch random(space, {.seed = 3});
  const auto expected = random.ask(4);
  const auto first = run(policy, 2, [](const Config&) { return 1.0; });
  CHECK(first == std::vector<Config>{expected[0], expected[1]});
  // every neighbour is slower
  const auto around = run(
      policy, space.neighbours(first[0], Neighbourhood::adjacent).size(), [](const Config&) { return 2.0; },
      2);
  for (const Config& config : around) CHECK(differing(config, first[0]) == 1);
  CHECK(policy.ask(1).at(0) == expected[2]);
}

TEST_CASE("GreedySearch: a faster foreign result is where it goes on") {
  const Space space = grid(3, 50);
  GreedySearch policy(space, {.seed = 3, .starts = 2});
  (void)run(policy, 4, [](const Config&) { return 5.0; });
  const Config foreign{{40, 40, 40}};
  search_driver::tell(policy, foreign, 1, 100, std::nullopt);
  CHECK(differing(policy.ask(1).at(0), foreign) == 1);
}

TEST_CASE("GreedySearch: failures are never climbed to") {
  const Space space = grid(2, 20);
  GreedySearch policy(space, {.seed = 3, .default_first = false, .starts = 1});
  const Config start = run(policy, 1, [](const Config&) { return 1.0; }).at(0);
  const std::size_t around = space.neighbours(start, Neighbourhood::adjacent).size();
  (void)run(
      policy, around, [](const Config&) { return greedy_search_infinity; }, 1);
  CHECK(differing(policy.ask(1).at(0), start) == 2);  // random again, not next to a failure
}
