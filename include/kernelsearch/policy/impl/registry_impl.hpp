// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "kernelsearch/core/impl/option_fault.hpp"
#include "kernelsearch/policy/impl/policy_rows.hpp"
#include "kernelsearch/policy/policy_choice.hpp"
#include "kernelsearch/policy/registry.hpp"

namespace kernelsearch {
KERNELSEARCH_INLINE std::span<const ConfigPolicyEntry> config_policies() {
  return detail::rows::entries;
}

KERNELSEARCH_INLINE Result<const PolicyOption*> ConfigPolicyEntry::try_find(std::string_view option) const {
  std::vector<std::string> names;
  for (const PolicyOption& one : options) {
    if (one.name == option) return &one;
    names.emplace_back(one.name);
  }
  return detail::unknown_option(name, option, names);
}

KERNELSEARCH_INLINE std::optional<PolicyOptionValue> ConfigPolicyEntry::standard(
    const PolicyOption& option) const {
  if (option.from_space) return std::nullopt;
  for (auto& [option_name, value] : values(PolicySetup{Space::without_tunables()}))
    if (option_name == option.name) return std::move(value);
  return std::nullopt;
}

KERNELSEARCH_INLINE Result<const ConfigPolicyEntry*> try_find_config_policy(std::string_view name) {
  std::vector<std::string> names;
  for (const ConfigPolicyEntry& entry : config_policies()) {
    if (entry.name == name) return &entry;
    names.emplace_back(entry.name);
  }
  return Fault{"no policy of that name", std::string(name), detail::nearest_of(name, names)};
}

KERNELSEARCH_INLINE Result<AnyPolicy<Config>> try_make_config_policy(std::string_view text,
                                                                     const PolicySetup& setup) {
  Result<PolicyChoice> choice = try_choose_policy(text);
  if (!choice) return std::move(choice).error();
  return choice->make(setup);
}

KERNELSEARCH_INLINE AnyPolicy<Config> make_config_policy(std::string_view text, const PolicySetup& setup) {
  return choose_policy(text).make(setup);
}

}  // namespace kernelsearch
