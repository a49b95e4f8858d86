// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <optional>

#include "kernelsearch/core/impl/option_fault.hpp"
#include "kernelsearch/core/impl/text.hpp"
#include "kernelsearch/core/value.hpp"
#include "kernelsearch/policy/policy_option.hpp"

namespace kernelsearch {
namespace detail {

constexpr bool begins_policy_word(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
constexpr bool in_policy_word(char c) noexcept {
  return begins_policy_word(c) || (c >= '0' && c <= '9') || c == '.' || c == '+' || c == '-';
}

/// Whether a string needs no quotes to be read back as one.
inline bool is_policy_word(std::string_view text) {
  return !text.empty() && begins_policy_word(text.front()) &&
         std::all_of(text.begin(), text.end(), in_policy_word) && text != "true" && text != "false";
}

inline std::string policy_string_text(std::string_view string) {
  if (is_policy_word(string)) return std::string(string);
  std::string text = "\"";
  for (const char c : string) {
    if (c == '"' || c == '\\') text += '\\';
    text += c;
  }
  return text + "\"";
}

}  // namespace detail

KERNELSEARCH_INLINE std::string policy_option_text(const PolicyOptionValue& value) {
  struct Visitor {
    std::string operator()(bool flag) const { return to_string(Value(flag)); }
    std::string operator()(std::int64_t whole) const { return to_string(Value(whole)); }
    std::string operator()(double number) const { return to_string(Value(number)); }
    std::string operator()(const std::string& string) const { return detail::policy_string_text(string); }
    std::string operator()(const std::vector<std::string>& strings) const {
      return "[" + detail::joined(strings, ", ", detail::policy_string_text) + "]";
    }
  };
  return std::visit(Visitor{}, value);
}

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
