// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/policy/tpe.hpp"

#include <doctest/doctest.h>

#include "kernelsearch/core/error.hpp"
#include "support/policy_contract.hpp"

using namespace kernelsearch;

namespace {

const auto make_tpe = [](const Space& space, std::uint64_t seed) { return Tpe(space, {.seed = seed}); };

Observation<Config> tpe_timed(const Config& config, std::uint64_t id, double seconds) {
  Observation<Config> observation{config, {}};
  observation.outcome.id = TrialId{id};
  observation.outcome.evaluation = Evaluation::succeeded(seconds);
  observation.outcome.objective = seconds;
  return observation;
}

/// Share of 40 first proposals of as many policies whose first tunable is at most 3, after `told`.
double low_share(const Space& space, const std::vector<Observation<Config>>& told) {
  double low = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    Tpe policy(space, {.seed = seed, .initial = 0});
    policy.tell(told);
    const std::vector<Config> proposal = policy.ask(1);
    REQUIRE(proposal.size() == 1);
    low += proposal[0].indices[0] <= 3 ? 1.0 / 40 : 0.0;
  }
  return low;
}

}  // namespace

TEST_CASE("Tpe: keeps the contract of policies over spaces") {
  policy_contract::check(make_tpe);
}

TEST_CASE("Tpe: needs far fewer evaluations than random draws") {
  const std::size_t ours = policy_contract::evaluations_to_best(make_tpe);
  const std::size_t random = policy_contract::evaluations_to_best(
      [](const Space& space, std::uint64_t seed) { return RandomSearch(space, {.seed = seed}); });
  CAPTURE(ours);
  CAPTURE(random);
  CHECK(3 * ours < 2 * random);
}

TEST_CASE("Tpe: proposes near the good and away from failures and from what is in flight") {
  const Space space =
      SpaceBuilder().add(Tunable::integer("a", 0, 15)).add(Tunable::integer("b", 0, 15)).build();
  std::vector<Observation<Config>> told;
  for (std::uint32_t b = 0; b < 16; b += 2) {
    told.push_back(tpe_timed({{1, b}}, told.size(), 1 + 0.01 * b));
    told.push_back(tpe_timed({{12, b}}, told.size(), 2));
  }
  CHECK(low_share(space, told) > 0.8);
  // The same places as failures draw nothing.
  for (auto& observation : told) {
    if (observation.proposal.indices[0] == 1) {
      observation.outcome.evaluation = Evaluation::failed(Verdict::crashed, "test");
      observation.outcome.objective = std::numeric_limits<double>::infinity();
    } else {
      observation.outcome.objective = 1 + 0.01 * observation.proposal.indices[1];
    }
  }
  CHECK(low_share(space, told) < 0.1);
}

TEST_CASE("Tpe: proposals in flight push later ones apart") {
  const Space space = SpaceBuilder().add(Tunable::integer("a", 0, 999)).build();
  std::vector<Observation<Config>> told;
  for (std::uint32_t a = 0; a < 1000; a += 50)
    told.push_back(tpe_timed({{a}}, told.size(), 1 + std::abs(a - 500.0)));
  double apart = 0, alone = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Tpe together(space, {.seed = seed, .initial = 0, .min_bandwidth = 5});
    together.tell(told);
    const auto batch = together.ask(20);
    for (std::size_t i = 1; i < 20; ++i) apart += std::abs(static_cast<double>(batch[i].indices[0]) - 500);
    Tpe one(space, {.seed = seed, .initial = 0, .min_bandwidth = 5});
    one.tell(told);
    alone += 19 * std::abs(static_cast<double>(one.ask(1)[0].indices[0]) - 500);
  }
  CHECK(apart > alone);
}

TEST_CASE("Tpe: options that cannot work are refused") {
  CHECK_THROWS_AS(Tpe(policy_contract::small_space(), {.candidates = 0}), ConfigError);
  CHECK_THROWS_AS(Tpe(policy_contract::small_space(), {.prior_weight = 0}), ConfigError);
}
