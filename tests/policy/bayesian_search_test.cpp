// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/policy/bayesian_search.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "support/approx.hpp"
#include "support/policy_contract.hpp"

using namespace kernelsearch;
using kernelsearch::test::approx;

namespace {

/// Tiles that count when they are multiples of 32, and a stage count with one good value.
Space tiles() {
  return SpaceBuilder()
      .add(Tunable::integer("tile", 16, 256, 16))
      .add(Tunable::integer("rows", 1, 12))
      .add(Tunable::integer("stages", 0, 4))
      .add(Tunable::boolean("pad"))
      .require("tile * rows <= 2048")
      .build();
}

double time_of(const Space& space, const Config& config) {
  const double tile = to_number(space.value(config, 0)), rows = to_number(space.value(config, 1));
  const double stages = to_number(space.value(config, 2));
  return 1 + std::abs(std::log2(tile / 128)) + 0.1 * std::abs(rows - 7) + (stages == 2 ? 0.0 : 0.6) +
         (std::fmod(tile, 32) == 0 ? 0.0 : 0.5) + (to_number(space.value(config, 3)) > 0 ? 0.2 : 0.0);
}

/// The best time after `trials` trials.
double best_of(BayesianSearch policy, const Space& space, std::size_t trials) {
  double best = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < trials; ++i) {
    const std::vector<Config> asked = policy.ask(1);
    if (asked.empty()) break;
    Observation<Config> observation{asked.front(), {}};
    observation.outcome.id = TrialId{i};
    observation.outcome.origin = Origin{ProposalId{i}, 0, 1};
    observation.outcome.objective = time_of(space, asked.front());
    observation.outcome.evaluation = Evaluation::succeeded(observation.outcome.objective);
    best = std::min(best, observation.outcome.objective);
    policy.tell(std::span<const Observation<Config>>(&observation, 1));
  }
  return best;
}

/// A run that measured every `each`-th configuration; `sign` -1 turns its order round.
EarlierRun earlier(const Space& space, std::size_t each, double sign) {
  EarlierRun run{"another device", {}};
  std::size_t i = 0;
  space.for_each([&](const Config& config) {
    if (i++ % each == 0) run.outcomes.push_back({config, 3 * std::exp(sign * 0.5 * time_of(space, config))});
  });
  return run;
}

double mean_best(const Space& space, std::size_t trials, const std::vector<EarlierRun>& runs) {
  double sum = 0;
  for (std::uint64_t seed = 0; seed < 10; ++seed)
    sum += best_of(BayesianSearch(space, {.seed = seed, .earlier = runs}), space, trials);
  return sum / 10;
}

}  // namespace

TEST_CASE("BayesianSearch: keeps the contract of policies") {
  policy_contract::check([](const Space& space, std::uint64_t seed) {
    return BayesianSearch(space, {.seed = seed, .default_first = true});
  });
}

TEST_CASE("BayesianSearch: keeps it where the pool is a part of the space and the model of the points") {
  policy_contract::check([](const Space& space, std::uint64_t seed) {
    return BayesianSearch(space,
                          {.seed = seed, .pool = 12, .model_points = 8, .fit_points = 6, .refit_each = 10});
  });
}

TEST_CASE("BayesianSearch: forty of a thousand trials find what random search would need hundreds for") {
  const Space space = tiles();
  CHECK(space.count() > BigCount(1000));
  CHECK(mean_best(space, 40, {}) < 1.15);  // one configuration in 300 is as good
}

TEST_CASE("BayesianSearch: earlier runs on another scale point to the best at once") {
  const Space space = tiles();
  const std::vector<EarlierRun> whole = {earlier(space, 1, 1)};
  CHECK(mean_best(space, 3, whole) == approx(1.0));
  // What it did not measure is predicted.
  CHECK(mean_best(space, 12, {earlier(space, 7, 1)}) < mean_best(space, 12, {}));
}

TEST_CASE("BayesianSearch: earlier runs that mislead are found out") {
  const Space space = tiles();
  CHECK(mean_best(space, 40, {earlier(space, 1, -1)}) < 1.25);
}

TEST_CASE("BayesianSearch: says what it learned from where") {
  const Space space = tiles();
  BayesianSearch policy(space, {.seed = 1, .earlier = {earlier(space, 2, 1), EarlierRun{"nothing", {}}}});
  for (std::size_t i = 0; i < 12; ++i) {
    Observation<Config> observation{policy.ask(1).front(), {}};
    observation.outcome.objective = time_of(space, observation.proposal);
    observation.outcome.evaluation = Evaluation::succeeded(observation.outcome.objective);
    policy.tell(std::span<const Observation<Config>>(&observation, 1));
  }
  const std::vector<LearnedFrom> learned = policy.learned();
  REQUIRE(learned.size() == 1);  // the empty run says nothing
  CHECK(learned[0].source == "another device");
  CHECK(learned[0].outcomes > 400);
  CHECK(learned[0].agreement > 0.8);
}

TEST_CASE("BayesianSearch: earlier runs are what it expects of every configuration, not of the first alone") {
  const Space space = tiles();
  // The mean time of what is proposed fourth to twelfth, of ten seeds.
  const auto mean_proposed = [&space](const std::vector<EarlierRun>& runs) {
    double sum = 0;
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
      BayesianSearch policy(space, {.seed = seed, .earlier = runs});
      for (std::size_t i = 0; i < 12; ++i) {
        Observation<Config> observation{policy.ask(1).front(), {}};
        observation.outcome.objective = time_of(space, observation.proposal);
        observation.outcome.evaluation = Evaluation::succeeded(observation.outcome.objective);
        policy.tell(std::span<const Observation<Config>>(&observation, 1));
        if (i >= 3) sum += observation.outcome.objective / 90;
      }
    }
    return sum;
  };
  const double with = mean_proposed({earlier(space, 1, 1)}), without = mean_proposed({});
  CAPTURE(with);
  CAPTURE(without);
  CHECK(with < 0.65 * without);
}

TEST_CASE("BayesianSearch: where all times are equal it goes where it knows least") {
  const Space space =
      SpaceBuilder().add(Tunable::integer("x", 0, 23)).add(Tunable::integer("y", 0, 23)).build();
  BayesianSearch policy(space, {.seed = 1, .alignment_weight = 0, .alignment_mean = 0});
  std::set<std::uint32_t> squares;  // of four by four
  for (std::size_t i = 0; i < 30; ++i) {
    Observation<Config> observation{policy.ask(1).front(), {}};
    const auto& at = observation.proposal.indices;
    squares.insert(at[0] / 4 * 6 + at[1] / 4);
    observation.outcome.objective = 1.0;
    observation.outcome.evaluation = Evaluation::succeeded(1.0);
    policy.tell(std::span<const Observation<Config>>(&observation, 1));
  }
  CHECK(squares.size() >= 18);
}

TEST_CASE("BayesianSearch: failures are avoided") {
  const Space space = tiles();
  BayesianSearch policy(space, {.seed = 3});
  std::size_t failed = 0;
  constexpr std::size_t trials = 60;
  for (std::size_t i = 0; i < trials; ++i) {
    Observation<Config> observation{policy.ask(1).front(), {}};
    const bool fails = to_number(space.value(observation.proposal, 1)) > 6;  // half of the space
    failed += fails ? 1 : 0;
    if (fails) {
      observation.outcome.evaluation = Evaluation::failed(Verdict::crashed, "too many rows");
    } else {
      observation.outcome.objective = time_of(space, observation.proposal);
      observation.outcome.evaluation = Evaluation::succeeded(observation.outcome.objective);
    }
    policy.tell(std::span<const Observation<Config>>(&observation, 1));
  }
  CHECK(failed < trials / 4);
}

TEST_CASE("BayesianSearch: failures are avoided also where all that runs is as fast") {
  // Then the model of the times knows no difference between what fails and what runs.
  const Space space =
      SpaceBuilder().add(Tunable::integer("x", 0, 23)).add(Tunable::integer("y", 0, 23)).build();
  const auto failures = [&space](double penalty) {
    BayesianSearch policy(
        space, {.seed = 1, .alignment_weight = 0, .alignment_mean = 0, .failure_penalty = penalty});
    std::size_t failed = 0;
    for (std::size_t i = 0; i < 40; ++i) {
      Observation<Config> observation{policy.ask(1).front(), {}};
      const bool fails = observation.proposal.indices[0] >= 12;
      failed += fails ? 1 : 0;
      if (!fails) observation.outcome.objective = 1.0;
      observation.outcome.evaluation =
          fails ? Evaluation::failed(Verdict::crashed, "too large") : Evaluation::succeeded(1.0);
      policy.tell(std::span<const Observation<Config>>(&observation, 1));
    }
    return failed;
  };
  CHECK(failures(0.0) > 12);
  CHECK(2 * failures(1.0) < failures(0.0));
}
