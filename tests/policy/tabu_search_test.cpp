// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/policy/tabu_search.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
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
const auto make_tabu_search = [](const Space& space, std::uint64_t seed) {
  return TabuSearch(space, {.seed = seed, .starts = 4});
};
}

TEST_CASE("TabuSearch: keeps the contract of policies over spaces") {
  policy_contract::check(make_tabu_search);
}

TEST_CASE("TabuSearch: needs fewer evaluations than random draws") {
  const std::size_t ours = policy_contract::evaluations_to_best(make_tabu_search);
  const std::size_t random = policy_contract::evaluations_to_best(
      [](const Space& space, std::uint64_t seed) { return RandomSearch(space, {.seed = seed}); });
  CAPTURE(ours);
  CAPTURE(random);
  CHECK(3 * ours < 2 * random);
}

TEST_CASE("TabuSearch: moves on from a local optimum, to the best neighbour although it is slower") {
  const Space space = grid(1, 100);
  TabuSearch policy(space, {.seed = 3, .default_first = false, .starts = 1, .patience = 100});
  const Config start = policy.ask(1).at(0);
  const std::uint32_t x = start.indices[0];
  REQUIRE(x > 10);
  REQUIRE(x < 90);
  search_driver::tell(policy, start, 1, 0, 0);
  const auto slope = [&](const Config& c) { return 1.0 + std::abs(double(c.indices[0]) - x - 0.2); };
  const auto sequence = run(policy, 12, slope, 1);
  // It walks away to one side and never turns back, since what it left is tabu.
  const std::uint32_t far = sequence.back().indices[0];
  CHECK((far > x ? far - x : x - far) >= 10);
  for (const Config& config : sequence) CHECK(std::abs(double(config.indices[0]) - x) <= 12);  // step by step
}

TEST_CASE("TabuSearch: measures as many neighbours before a move as it was told to") {
  const Space space = grid(5, 50);
  TabuSearch policy(space, {.seed = 3, .starts = 1, .candidates = 3});
  const Config start = run(policy, 1, [](const Config&) { return 9.0; }).at(0);
  double time = 9;
  const auto around = run(
      policy, 3, [&](const Config&) { return time -= 1; }, 1);
  for (const Config& config : around) CHECK(differing(config, start) == 1);
  CHECK(policy.ask(10).size() == 3);  // and then waits
}

TEST_CASE("TabuSearch: values just left do not come back within the tenure") {
  const Space space = grid(2, 30);
  TabuSearch policy(
      space,
      {.seed = 3, .default_first = false, .starts = 1, .candidates = 100, .tenure = 1000, .patience = 1000});
  const auto flat = [](const Config&) { return 1.0; };
  const auto sequence = run(policy, 1, flat);
  // Of two tunables each move bars one value; a proposal never has a barred value but its row's own.
  const Config start = sequence[0];
  const auto first = run(policy, space.neighbours(start, Neighbourhood::adjacent).size(), flat, 1);
  const Config second = policy.ask(1).at(0);  // next to the first move's end
  const Config* moved_to = nullptr;
  for (const Config& config : first)
    if (differing(config, second) == 1 && moved_to == nullptr) moved_to = &config;
  REQUIRE(moved_to != nullptr);
  for (std::size_t t = 0; t < 2; ++t)
    if (moved_to->indices[t] != start.indices[t]) CHECK(second.indices[t] != start.indices[t]);
}

TEST_CASE("TabuSearch: out of patience it begins afresh at random points") {
  const Space space = grid(6, 9);
  TabuSearch policy(space, {.seed = 3, .default_first = false, .starts = 2, .candidates = 2, .patience = 1});
  double worse = 1;
  const auto sequence = run(policy, 10, [&](const Config&) { return worse += 1; });
  const auto random = RandomSearch(space, {.seed = 3}).ask(4);
  CHECK(std::find(sequence.begin(), sequence.end(), random[2]) != sequence.end());
}

TEST_CASE("TabuSearch: the best neighbour is passed over while it has a value that was just left") {
  const Space space = grid(2, 30);
  const auto starting = [&space](std::uint64_t seed) {
    return TabuSearch(space, {.seed = seed,
                              .default_first = false,
                              .starts = 1,
                              .candidates = 100,
                              .tenure = 1000,
                              .patience = 1000});
  };
  std::uint64_t seed = 0;  // of a start away from the edges
  const auto inside = [](std::uint32_t at) { return at > 3 && at < 27; };
  for (;; ++seed) {
    TabuSearch tried = starting(seed);
    const Config first = tried.ask(1).at(0);
    if (inside(first.indices[0]) && inside(first.indices[1])) break;
  }
  TabuSearch policy = starting(seed);
  const Config start = policy.ask(1).at(0);
  const int x = int(start.indices[0]), y = int(start.indices[1]);
  search_driver::tell(policy, start, 1, 0, 0);
  // Two moves lead to (x + 1, y + 1). Of what is known next to it (x, y + 1) is fastest, but x was just left.
  const auto time = [&](const Config& c) {
    const int dx = int(c.indices[0]) - x, dy = int(c.indices[1]) - y;
    if (dx == 1 && dy == 0) return 5.0;
    if (dx == 0 && dy == 1) return 5.5;
    if (dx == 1 && dy == 1) return 6.0;
    return dx == 2 && dy == 1 ? 7.0 : 9.0;
  };
  const auto sequence = run(policy, 11, time, 1);
  REQUIRE(sequence.size() == 11);  // neighbours: four, three, two, and two of (x + 2, y + 1)
  for (std::size_t i = 9; i < 11; ++i) CHECK(int(sequence[i].indices[0]) >= x + 2);
}
