// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <string_view>

#include "kernelsearch/core/config_macros.hpp"
#include "kernelsearch/core/result.hpp"
#include "kernelsearch/policy/any_policy.hpp"
#include "kernelsearch/policy/policy_option.hpp"
#include "kernelsearch/policy/policy_setup.hpp"

namespace kernelsearch {

struct ConfigPolicyEntry;

/// A policy of the registry with the options that were chosen for it, all of which it has.
class PolicyChoice {
 public:
  explicit PolicyChoice(const ConfigPolicyEntry& entry) : entry_(&entry) {}

  /// Chooses a value for an option, in place of one chosen before. A fault for an option that the policy does
  /// not have, with the nearest name and all, and for a value that the option cannot have.
  [[nodiscard]] Result<void> try_set(std::string_view option, PolicyOptionValue value);

  [[nodiscard]] const ConfigPolicyEntry& entry() const noexcept { return *entry_; }

  /// The options that were chosen, in the order of the entry's.
  [[nodiscard]] const PolicyOptionValues& options() const noexcept { return options_; }

  /// The canonical text, by which runs are stored: it reads back as the same choice.
  [[nodiscard]] std::string text() const;

  /// The policy; ConfigError where an option names a tunable that the space does not have.
  [[nodiscard]] AnyPolicy<Config> make(const PolicySetup& setup) const;

 private:
  const ConfigPolicyEntry* entry_;
  PolicyOptionValues options_;
};

/// The policy of that text with its options (PolicyText); a fault where the text does not read so, for an
/// unknown policy or option, with the nearest name, and for a value that does not fit.
[[nodiscard]] Result<PolicyChoice> try_choose_policy(std::string_view text);

/// The same; ConfigError instead of a fault.
[[nodiscard]] PolicyChoice choose_policy(std::string_view text);

}  // namespace kernelsearch

#if KERNELSEARCH_HEADER_ONLY
#  include "kernelsearch/policy/impl/policy_choice_impl.hpp"
#endif
