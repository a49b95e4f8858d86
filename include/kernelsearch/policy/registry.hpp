// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "kernelsearch/core/result.hpp"
#include "kernelsearch/policy/any_policy.hpp"
#include "kernelsearch/policy/policy_setup.hpp"
#include "kernelsearch/space/space.hpp"

namespace kernelsearch {

/// A policy over spaces that can be chosen by name.
struct ConfigPolicyEntry {
  std::string_view name;
  std::string_view summary;
  AnyPolicy<Config> (*make)(const PolicySetup& setup);
};

/// All of them, by name.
[[nodiscard]] std::span<const ConfigPolicyEntry> config_policies();

/// The policy of that name; ConfigError with the nearest name when there is none.
[[nodiscard]] AnyPolicy<Config> make_config_policy(std::string_view name, const PolicySetup& setup);

/// The same without raising where there is none.
[[nodiscard]] Result<AnyPolicy<Config>> try_make_config_policy(std::string_view name,
                                                               const PolicySetup& setup);

}  // namespace kernelsearch

#if KERNELSEARCH_HEADER_ONLY
#  include "kernelsearch/policy/impl/registry_impl.hpp"
#endif
