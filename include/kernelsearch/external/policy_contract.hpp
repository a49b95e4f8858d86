// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "kernelsearch/policy/any_policy.hpp"
#include "kernelsearch/space/space.hpp"

namespace kernelsearch {

/// One thing that a policy over spaces promises, and whether a policy kept it.
struct ContractProperty {
  std::string name;
  std::string promise;  ///< in a sentence
  std::string fault;    ///< what was seen instead; empty: it holds
  [[nodiscard]] bool holds() const noexcept { return fault.empty(); }
};

/// A fresh policy on a space from a seed.
using PolicyMaker = std::function<AnyPolicy<Config>(const Space& space, std::uint64_t seed)>;

/// Tries everything that a policy over spaces must keep to (docs/extending.md#policy), each on fresh
/// policies. What a policy throws breaks the property that was being tried. The suite of the library's own
/// policies is this one.
[[nodiscard]] std::vector<ContractProperty> check_policy_contract(const PolicyMaker& make);

/// The space of most of the checks: 4 tunables, 2 constraints.
[[nodiscard]] Space contract_space();

/// Its made-up times: smooth in two tunables, with a kink and a corner that fails (infinity).
[[nodiscard]] double contract_time(const Space& space, const Config& config);

/// What a policy is told of a configuration of that space.
[[nodiscard]] Observation<Config> contract_observation(const Space& space, const Config& config,
                                                       std::uint64_t trial,
                                                       std::optional<std::uint64_t> proposal);

/// What a policy proposed, and the first promise of every step that it broke.
struct ContractDrive {
  std::vector<Config> sequence;
  std::string fault;
};

/// Drives a policy until it ends, has proposed `limit` configurations or breaks a promise, with up to
/// `window` outstanding that are told in an order drawn from `order_seed`.
[[nodiscard]] ContractDrive drive_policy(AnyPolicy<Config>& policy, const Space& space, std::size_t window,
                                         std::uint64_t order_seed, std::size_t limit = 100000);

}  // namespace kernelsearch
