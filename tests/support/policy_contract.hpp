// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <deque>
#include <limits>
#include <span>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "kernelsearch/core/rng.hpp"
#include "kernelsearch/policy/search_policy.hpp"
#include "kernelsearch/space/space_builder.hpp"

/// What every policy over spaces must keep to. `make(space, seed)` returns the policy under test.
namespace policy_contract {

using namespace kernelsearch;

inline Space small_space() {
  return SpaceBuilder()
      .add(Tunable::power_of_two("block", 16, 256))
      .add(Tunable::integer("unroll", 1, 6))
      .add(Tunable::boolean("pad"))
      .add(Tunable::categorical("layout", std::vector<std::string>{"row", "column", "tiled"}))
      .require("block * unroll <= 512")
      .require("pad or layout != 'tiled'")
      .build();
}

/// Smooth in block and unroll, with a kink and a forbidden corner that fails at run time.
inline double time_of(const Space& space, const Config& config) {
  const double block = std::log2(to_number(space.value(config, 0)));
  const double unroll = to_number(space.value(config, 1));
  if (block > 7.5 && unroll < 2) return std::numeric_limits<double>::infinity();
  return 1 + std::abs(block - 6) + 0.3 * std::abs(unroll - 4) +
         (to_number(space.value(config, 2)) > 0 ? 0.1 : 0.0) + 0.2 * static_cast<double>(config.indices[3]);
}

inline Observation<Config> observe(const Space& space, const Config& config, std::uint64_t id,
                                   std::optional<std::uint64_t> proposal) {
  Observation<Config> observation{config, {}};
  observation.outcome.id = TrialId{id};
  if (proposal) observation.outcome.origin = Origin{ProposalId{*proposal}, 0, 1};
  const double time = time_of(space, config);
  if (std::isinf(time)) {
    observation.outcome.evaluation = Evaluation::failed(Verdict::crashed, "forbidden corner");
  } else {
    observation.outcome.evaluation = Evaluation::succeeded(time);
    observation.outcome.objective = time;
  }
  return observation;
}

template <class Policy>
void tell(Policy& policy, const Observation<Config>& observation) {
  policy.tell(std::span<const Observation<Config>>(&observation, 1));
}

/// Drives the policy with up to `window` outstanding, telling in an order drawn from `order_seed`; checks
/// what must hold at every step and returns the proposals.
template <class Policy>
std::vector<Config> drive(Policy& policy, const Space& space, std::size_t window, std::uint64_t order_seed,
                          std::size_t limit = 100000) {
  Rng order(order_seed);
  std::unordered_set<Config> proposed;
  std::vector<Config> sequence;
  std::vector<std::pair<std::uint64_t, Config>> outstanding;
  std::uint64_t next_id = 0;
  while (sequence.size() < limit) {
    const std::size_t wanted = window - outstanding.size();
    const std::vector<Config> batch = policy.ask(wanted);
    REQUIRE(batch.size() <= wanted);
    for (const Config& config : batch) {
      REQUIRE_MESSAGE(space.contains(config), "left the constraints: " << space.key(config));
      REQUIRE_MESSAGE(proposed.insert(config).second, "repeated " << space.key(config));
      outstanding.emplace_back(sequence.size(), config);
      sequence.push_back(config);
    }
    if (outstanding.empty()) break;
    const std::size_t which = order.below(outstanding.size());
    const auto [proposal, config] = outstanding[which];
    outstanding.erase(outstanding.begin() + static_cast<std::ptrdiff_t>(which));
    tell(policy, observe(space, config, next_id++, proposal));
  }
  return sequence;
}

/// The whole suite for one policy.
template <class Make>
void check(Make make) {
  const Space space = small_space();
  const std::size_t count = space.count().low();
  REQUIRE(count > 50);

  for (const std::size_t window : {1u, 4u, 300u}) {
    CAPTURE(window);
    auto policy = make(space, 1);
    const auto all = drive(policy, space, window, 11);
    CHECK_MESSAGE(all.size() == count, "an exhausted space ends the search, and only that");
    CHECK(policy.ask(3).empty());
  }

  {  // the same seed and the same outcomes in the same order give the same proposals
    auto a = make(space, 5), b = make(space, 5);
    CHECK(drive(a, space, 3, 7) == drive(b, space, 3, 7));
  }

  {  // foreign outcomes are taken, and their configurations are not proposed again
    auto policy = make(space, 2);
    std::unordered_set<Config> foreign;
    Rng rng(3);
    for (std::uint64_t i = 0; foreign.size() < 10; ++i) {
      const Config config = space.sample(rng);
      if (foreign.insert(config).second) tell(policy, observe(space, config, 1000 + i, std::nullopt));
    }
    const auto rest = drive(policy, space, 2, 9);
    CHECK(rest.size() == count - foreign.size());
    for (const Config& config : rest) CHECK_FALSE(foreign.contains(config));
  }

  {  // a proposal of which nothing came, and an outcome told again, are survived
    auto policy = make(space, 4);
    const auto first = policy.ask(2);
    REQUIRE(!first.empty());
    Observation<Config> nothing = observe(space, first[0], 0, 0);
    nothing.outcome.evaluation = Evaluation::failed(Verdict::not_generated, "no reply");
    nothing.outcome.objective = std::numeric_limits<double>::infinity();
    nothing.outcome.origin->count = 0;
    tell(policy, nothing);
    if (first.size() > 1) {
      tell(policy, observe(space, first[1], 1, 1));
      tell(policy, observe(space, first[1], 1, 1));
    }
    CHECK_FALSE(policy.ask(1).empty());
  }

  {  // a space of one configuration
    const Space one = SpaceBuilder().add(Tunable::integer("only", 3, 3)).build();
    auto policy = make(one, 1);
    CHECK(policy.ask(5).size() == 1);
    CHECK(policy.ask(5).empty());
  }

  {  // spaces beyond 2^64 configurations work without listing
    SpaceBuilder builder;
    for (int i = 0; i < 20; ++i) builder.add(Tunable::integer("t" + std::to_string(i), 0, 15));
    const Space huge = builder.build();
    auto policy = make(huge, 1);
    for (std::uint64_t i = 0; i < 20; ++i) {
      const auto batch = policy.ask(1);
      REQUIRE(batch.size() == 1);
      REQUIRE(huge.contains(batch[0]));
      Observation<Config> observation{batch[0], {}};
      observation.outcome.id = TrialId{i};
      observation.outcome.origin = Origin{ProposalId{i}, 0, 1};
      observation.outcome.objective = static_cast<double>(100 - i);
      observation.outcome.evaluation = Evaluation::succeeded(static_cast<double>(100 - i));
      tell(policy, observation);
    }
  }
}

/// Median of evaluations that the policy needs to find the best of the small space, over 21 seeds.
template <class Make>
std::size_t evaluations_to_best(Make make) {
  const Space space = small_space();
  std::vector<std::size_t> needed;
  for (std::uint64_t seed = 0; seed < 21; ++seed) {
    auto policy = make(space, seed);
    const auto sequence = drive(policy, space, 1, 1);
    std::size_t best = 0;
    for (std::size_t i = 1; i < sequence.size(); ++i)
      if (time_of(space, sequence[i]) < time_of(space, sequence[best])) best = i;
    needed.push_back(best + 1);
  }
  std::sort(needed.begin(), needed.end());
  return needed[needed.size() / 2];
}

}  // namespace policy_contract
