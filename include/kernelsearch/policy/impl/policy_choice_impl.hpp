// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <utility>

#include "kernelsearch/policy/policy_choice.hpp"
#include "kernelsearch/policy/policy_text.hpp"
#include "kernelsearch/policy/registry.hpp"

namespace kernelsearch {
KERNELSEARCH_INLINE Result<void> PolicyChoice::try_set(std::string_view option, PolicyOptionValue value) {
  Result<const PolicyOption*> row = entry_->try_find(option);
  if (!row) return std::move(row).error();
  Result<PolicyOptionValue> checked = (*row)->try_value(entry_->name, std::move(value));
  if (!checked) return std::move(checked).error();
  PolicyOptionValues chosen;
  for (const PolicyOption& one : entry_->options) {
    if (&one == *row) {
      chosen.emplace_back(one.name, *std::move(checked));
      continue;
    }
    const auto before = std::find_if(options_.begin(), options_.end(),
                                     [&one](const auto& earlier) { return earlier.first == one.name; });
    if (before != options_.end()) chosen.push_back(std::move(*before));
  }
  options_ = std::move(chosen);
  return {};
}

KERNELSEARCH_INLINE std::string PolicyChoice::text() const {
  return to_string(PolicyText{std::string(entry_->name), options_});
}

KERNELSEARCH_INLINE AnyPolicy<Config> PolicyChoice::make(const PolicySetup& setup) const {
  return entry_->make(setup, options_);
}

KERNELSEARCH_INLINE Result<PolicyChoice> try_choose_policy(std::string_view text) {
  Result<PolicyText> read = try_parse_policy_text(text);
  if (!read) return std::move(read).error();
  Result<const ConfigPolicyEntry*> entry = try_find_config_policy(read->name);
  if (!entry) return std::move(entry).error();
  PolicyChoice choice(**entry);
  for (auto& [name, value] : read->options)
    if (Result<void> set = choice.try_set(name, std::move(value)); !set) return std::move(set).error();
  return choice;
}

KERNELSEARCH_INLINE PolicyChoice choose_policy(std::string_view text) {
  return detail::value_or_raise(try_choose_policy(text));
}

}  // namespace kernelsearch
