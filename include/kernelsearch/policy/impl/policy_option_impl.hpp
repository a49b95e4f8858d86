// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <optional>

#include "kernelsearch/core/impl/option_fault.hpp"
#include "kernelsearch/policy/policy_option.hpp"
#include "kernelsearch/policy/policy_text.hpp"

namespace kernelsearch {

KERNELSEARCH_INLINE const char* type_name(PolicyOptionType type) noexcept {
  constexpr const char* names[] = {"bool", "int", "float", "string", "list of strings"};
  return names[static_cast<std::size_t>(type)];
}

KERNELSEARCH_INLINE Result<PolicyOptionValue> PolicyOption::try_value(std::string_view policy,
                                                                      PolicyOptionValue given) const {
  if (const auto* whole = std::get_if<std::int64_t>(&given); whole && type == PolicyOptionType::number)
    given = static_cast<double>(*whole);
  if (given.index() != static_cast<std::size_t>(type)) {
    constexpr const char* wanted[] = {"true or false", "a whole number", "a number", "a string",
                                      "a list of strings, [a, b]"};
    return detail::option_of_another_type(policy, name, policy_option_text(given),
                                          wanted[static_cast<std::size_t>(type)]);
  }
  std::optional<Fault> outside;
  if (const auto* whole = std::get_if<std::int64_t>(&given))
    outside = detail::option_out_of_bounds(policy, name, *whole, least, most);
  else if (const auto* number = std::get_if<double>(&given))
    outside = detail::option_out_of_bounds(policy, name, *number, least, most);
  if (outside) return *std::move(outside);
  const auto* text = std::get_if<std::string>(&given);
  if (text && !choices.empty() && std::find(choices.begin(), choices.end(), *text) == choices.end()) {
    const std::vector<std::string> all(choices.begin(), choices.end());
    return detail::unknown_choice(policy, name, *text, all);
  }
  return given;
}

}  // namespace kernelsearch
