// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "kernelsearch/core/result.hpp"
#include "kernelsearch/policy/any_policy.hpp"
#include "kernelsearch/policy/policy_option.hpp"
#include "kernelsearch/policy/policy_setup.hpp"
#include "kernelsearch/space/space.hpp"

namespace kernelsearch {

/// A policy over spaces that can be chosen by name.
struct ConfigPolicyEntry {
  std::string_view name;
  std::string_view summary;
  std::span<const PolicyOption> options;  ///< in the order in which they are listed

  /// The option of that name; a fault with the nearest name and all where there is none.
  [[nodiscard]] Result<const PolicyOption*> try_find(std::string_view option) const;

  /// The policy with these options over the setup's: ConfigError for an option that it does not have or a
  /// value that the option cannot have, and where an option names a tunable that the space does not have.
  [[nodiscard]] AnyPolicy<Config> make(const PolicySetup& setup, const PolicyOptionValues& given = {}) const {
    return maker(*this, setup, given);
  }

  /// All options as make() would set them, in the order of `options`; ConfigError as there.
  [[nodiscard]] PolicyOptionValues values(const PolicySetup& setup,
                                          const PolicyOptionValues& given = {}) const {
    return reader(*this, setup, given);
  }

  /// The value of an option that is left out; nothing where the space decides.
  [[nodiscard]] std::optional<PolicyOptionValue> standard(const PolicyOption& option) const;

  AnyPolicy<Config> (*maker)(const ConfigPolicyEntry& entry, const PolicySetup& setup,
                             const PolicyOptionValues& given);
  PolicyOptionValues (*reader)(const ConfigPolicyEntry& entry, const PolicySetup& setup,
                               const PolicyOptionValues& given);
};

/// All of them, by name.
[[nodiscard]] std::span<const ConfigPolicyEntry> config_policies();

/// The policy of that name; a fault with the nearest name when there is none.
[[nodiscard]] Result<const ConfigPolicyEntry*> try_find_config_policy(std::string_view name);

/// The policy of that text, a name or `genetic(population=40)` (PolicyText); ConfigError where the text does
/// not read so, for an unknown name or option with the nearest one, and for a value that does not fit.
[[nodiscard]] AnyPolicy<Config> make_config_policy(std::string_view text, const PolicySetup& setup);

/// The same without raising for the text. What only the space can tell, an option that names a tunable, is
/// raised still.
[[nodiscard]] Result<AnyPolicy<Config>> try_make_config_policy(std::string_view text,
                                                               const PolicySetup& setup);

}  // namespace kernelsearch

#if KERNELSEARCH_HEADER_ONLY
#  include "kernelsearch/policy/impl/registry_impl.hpp"
#endif
