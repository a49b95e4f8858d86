// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/policy/simulated_annealing.hpp"

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
constexpr double simulated_annealing_infinity = std::numeric_limits<double>::infinity();
const auto make_simulated_annealing = [](const Space& space, std::uint64_t seed) {
  return SimulatedAnnealing(space, {.seed = seed});
};
}  // namespace

TEST_CASE("SimulatedAnnealing: keeps the contract of policies over spaces") {
  policy_contract::check(make_simulated_annealing);
}

TEST_CASE("SimulatedAnnealing: needs fewer evaluations than random draws") {
  const std::size_t ours = policy_contract::evaluations_to_best(make_simulated_annealing);
  const std::size_t random = policy_contract::evaluations_to_best(
      [](const Space& space, std::uint64_t seed) { return RandomSearch(space, {.seed = seed}); });
  CAPTURE(ours);
  CAPTURE(random);
  CHECK(3 * ours < 2 * random);
}

TEST_CASE("SimulatedAnnealing: hot, it goes on from what is slower; cold, it does not") {
  const Space space = grid(6, 9);
  for (const double temperature : {1e9, 1e-9}) {
    CAPTURE(temperature);
    SimulatedAnnealing policy(space, {.seed = 3, .starts = 2, .hot = temperature, .cold = temperature / 2});
    double worse = 1;
    const auto rising = [&](const Config&) { return worse += 1; };
    const auto sequence = run(policy, 40, rising);
    std::size_t from_last = 0, from_first = 0;
    for (std::size_t i = 3; i < sequence.size(); ++i) {
      from_last += differing(sequence[i], sequence[i - 1]) == 1 ? 1 : 0;
      from_first += differing(sequence[i], sequence[0]) == 1 ? 1 : 0;
    }
    if (temperature > 1) {
      CHECK(from_last == 37);
    } else {
      CHECK(from_first == 37);
    }
  }
}

TEST_CASE("SimulatedAnnealing: never goes on from a failure, and leaves one") {
  const Space space = grid(6, 9);
  SimulatedAnnealing policy(space, {.seed = 3, .starts = 1, .hot = 1e9});
  const Config start = run(policy, 1, [](const Config&) { return simulated_annealing_infinity; }).at(0);
  const Config right = run(
                           policy, 1, [](const Config&) { return 1.0; }, 1)
                           .at(0);
  CHECK(differing(right, start) == 1);
  for (const Config& config : run(
           policy, 20, [](const Config&) { return simulated_annealing_infinity; }, 2))
    CHECK(differing(config, right) == 1);
}

TEST_CASE("SimulatedAnnealing: the temperature counts in spreads, so that units mean nothing") {
  const Space space = grid(4, 9);
  const auto objective = [](const Config& c) {
    double sum = 1;
    for (const auto index : c.indices) sum += (index - 4.0) * (index - 4.0) + (index % 3);
    return sum;
  };
  SimulatedAnnealing plain(space, {.seed = 3});
  const auto expected = run(plain, 300, objective);
  for (const double unit : {0x1p-30, 0x1p30}) {
    SimulatedAnnealing other(space, {.seed = 3});
    CHECK(run(other, 300, [&](const Config& c) { return unit * objective(c); }) == expected);
  }
}

TEST_CASE("SimulatedAnnealing: once cold it begins again at random points") {
  const Space space = grid(6, 9);
  SimulatedAnnealing policy(space, {.seed = 3, .default_first = false, .starts = 2, .steps = 10});
  double better = 100;
  const auto sequence = run(policy, 13, [&](const Config&) { return better -= 1; });
  const auto random = RandomSearch(space, {.seed = 3}).ask(4);
  CHECK(sequence[0] == random[0]);
  CHECK(differing(sequence[10], sequence[9]) == 1);
  CHECK(std::find(sequence.begin() + 2, sequence.end(), random[2]) != sequence.end());
}
