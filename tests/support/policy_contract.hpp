// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "kernelsearch/external/policy_contract.hpp"
#include "kernelsearch/policy/search_policy.hpp"
#include "kernelsearch/space/space_builder.hpp"

/// What every policy over spaces must keep to, as tests. `make(space, seed)` returns the policy under test.
/// The checks are the library's, which `kernelsearch contract` runs too.
namespace policy_contract {

using namespace kernelsearch;

inline Space small_space() {
  return contract_space();
}

inline double time_of(const Space& space, const Config& config) {
  return contract_time(space, config);
}

inline Observation<Config> observe(const Space& space, const Config& config, std::uint64_t id,
                                   std::optional<std::uint64_t> proposal) {
  return contract_observation(space, config, id, proposal);
}

template <class Policy>
void tell(Policy& policy, const Observation<Config>& observation) {
  policy.tell(std::span<const Observation<Config>>(&observation, 1));
}

/// A policy that stays with the test.
template <class Policy>
struct Borrowed {
  using Proposal = Config;
  Policy* policy;
  std::vector<Config> ask(std::size_t n) { return policy->ask(n); }
  void tell(std::span<const Observation<Config>> batch) { policy->tell(batch); }
};

/// Drives the policy with up to `window` outstanding, telling in an order drawn from `order_seed`; checks
/// what must hold at every step and returns the proposals.
template <class Policy>
std::vector<Config> drive(Policy& policy, const Space& space, std::size_t window, std::uint64_t order_seed,
                          std::size_t limit = 100000) {
  AnyPolicy<Config> borrowed{Borrowed<Policy>{&policy}};
  ContractDrive driven = drive_policy(borrowed, space, window, order_seed, limit);
  REQUIRE_MESSAGE(driven.fault.empty(), driven.fault);
  return std::move(driven.sequence);
}

/// The whole suite for one policy.
template <class Make>
void check(Make make) {
  const auto properties = check_policy_contract(
      [&make](const Space& space, std::uint64_t seed) { return AnyPolicy<Config>(make(space, seed)); });
  CHECK(properties.size() == 7);
  for (const ContractProperty& property : properties)
    CHECK_MESSAGE(property.holds(), property.name, " (", property.promise, "): ", property.fault);
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
