// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>

#include "kernelsearch/core/field.hpp"
#include "kernelsearch/core/impl/option_fault.hpp"
#include "kernelsearch/core/impl/text.hpp"
#include "kernelsearch/core/value.hpp"

namespace kernelsearch {
namespace detail {

constexpr bool in_field_word(char c) noexcept {
  return in_word(c) || c == '.' || c == '+' || c == '-';
}

/// Whether a string needs no quotes to be read back as one.
inline bool is_field_word(std::string_view text) {
  return !text.empty() && begins_word(text.front()) && std::all_of(text.begin(), text.end(), in_field_word) &&
         text != "true" && text != "false";
}

inline std::string field_string_text(std::string_view string) {
  if (is_field_word(string)) return std::string(string);
  std::string text = "\"";
  for (const char c : string) {
    if (c == '"' || c == '\\') text += '\\';
    text += c;
  }
  return text + "\"";
}

}  // namespace detail

KERNELSEARCH_INLINE std::string field_text(const FieldValue& value) {
  struct Visitor {
    std::string operator()(bool flag) const { return to_string(Value(flag)); }
    std::string operator()(std::int64_t whole) const { return to_string(Value(whole)); }
    std::string operator()(double number) const { return to_string(Value(number)); }
    std::string operator()(const std::string& string) const { return detail::field_string_text(string); }
    std::string operator()(const std::vector<std::string>& strings) const {
      return "[" + detail::joined(strings, ", ", detail::field_string_text) + "]";
    }
    std::string operator()(const std::vector<std::int64_t>& numbers) const {
      return "[" + detail::joined(numbers, ", ", [](std::int64_t one) { return std::to_string(one); }) + "]";
    }
    std::string operator()(std::uint64_t natural) const { return std::to_string(natural); }
  };
  return std::visit(Visitor{}, value);
}

KERNELSEARCH_INLINE const char* type_name(FieldType type) noexcept {
  constexpr const char* names[] = {"bool",         "int",   "float", "string", "list of strings",
                                   "list of ints", "uint64"};
  return names[static_cast<std::size_t>(type)];
}

KERNELSEARCH_INLINE Result<FieldValue> Field::try_value(std::string_view owner, FieldValue given) const {
  if (const auto* whole = std::get_if<std::int64_t>(&given); whole && type == FieldType::number)
    given = static_cast<double>(*whole);
  if (const auto* whole = std::get_if<std::int64_t>(&given);
      whole && *whole >= 0 && type == FieldType::natural)
    given = static_cast<std::uint64_t>(*whole);
  // An empty list does not say of what.
  if (const auto* none = std::get_if<std::vector<std::string>>(&given);
      none && none->empty() && type == FieldType::counts)
    given = std::vector<std::int64_t>{};
  if (given.index() != static_cast<std::size_t>(type)) {
    constexpr const char* wanted[] = {"true or false",
                                      "a whole number",
                                      "a number",
                                      "a string",
                                      "a list of strings, [a, b]",
                                      "a list of whole numbers",
                                      "a whole number from 0"};
    return detail::option_of_another_type(owner, name, field_text(given),
                                          wanted[static_cast<std::size_t>(type)]);
  }
  std::optional<Fault> outside;
  if (const auto* whole = std::get_if<std::int64_t>(&given))
    outside = detail::option_out_of_bounds(owner, name, *whole, least, most);
  else if (const auto* number = std::get_if<double>(&given))
    outside = detail::option_out_of_bounds(owner, name, *number, least, most);
  if (const auto* numbers = std::get_if<std::vector<std::int64_t>>(&given))
    for (const std::int64_t one : *numbers)
      if (!outside) outside = detail::option_out_of_bounds(owner, name, one, least, most);
  if (outside) return *std::move(outside);
  const auto* text = std::get_if<std::string>(&given);
  if (text && !choices.empty() && std::find(choices.begin(), choices.end(), *text) == choices.end()) {
    const std::vector<std::string> all(choices.begin(), choices.end());
    return detail::unknown_choice(owner, name, *text, all);
  }
  return given;
}

KERNELSEARCH_INLINE std::string Field::values_text() const {
  if (!choices.empty()) return detail::joined(choices, " or ", [](std::string_view one) { return one; });
  const auto bound = [this](double number) {
    return type == FieldType::number && number != std::floor(number)
               ? to_string(Value(number))
               : std::to_string(static_cast<std::int64_t>(number));
  };
  std::string text = type_name(type);
  const bool below = std::isfinite(least), above = std::isfinite(most);
  if (below) text += ", " + bound(least) + (above ? "" : " or more");
  if (above) text += (below ? " to " : ", at most ") + bound(most);
  return text;
}

}  // namespace kernelsearch
