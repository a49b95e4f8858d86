// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>
#include <cstdint>
#include <utility>

#include "kernelsearch/core/impl/option_fault.hpp"
#include "kernelsearch/core/impl/text.hpp"
#include "kernelsearch/core/nearest.hpp"

namespace kernelsearch::detail {

KERNELSEARCH_INLINE std::string nearest_of(std::string_view name, std::span<const std::string> known) {
  const std::string nearest = nearest_name(name, known);
  return (nearest.empty() ? "" : "did you mean " + nearest + "? ") + "there are " + joined(known, ", ");
}

inline std::string option_of(std::string_view name, std::string_view owner) {
  return "the option " + std::string(name) + " of " + std::string(owner);
}

KERNELSEARCH_INLINE Fault unknown_option(std::string_view owner, std::string_view name,
                                         std::span<const std::string> known) {
  return {"there is no such option of " + std::string(owner), std::string(name),
          known.empty() ? std::string(owner) + " has no options" : nearest_of(name, known)};
}

KERNELSEARCH_INLINE Fault option_of_another_type(std::string_view owner, std::string_view name,
                                                 std::string_view given, std::string_view wanted) {
  return {option_of(name, owner) + " is of another type", std::string(given), "give " + std::string(wanted)};
}

KERNELSEARCH_INLINE std::optional<Fault> option_out_of_bounds(std::string_view owner, std::string_view name,
                                                              const Value& value, double least, double most) {
  const double number = to_number(value);
  if (std::isfinite(number) && number >= least && number <= most) return std::nullopt;
  const bool whole = std::holds_alternative<std::int64_t>(value);
  const auto text = [whole](double bound) {
    return to_string(whole ? Value(static_cast<std::int64_t>(bound)) : Value(bound));
  };
  const bool below = std::isfinite(least), above = std::isfinite(most);
  return Fault{option_of(name, owner) + " is out of bounds", to_string(value),
               below && above ? "give a number from " + text(least) + " to " + text(most)
               : below        ? "give a number of at least " + text(least)
               : above        ? "give a number of at most " + text(most)
                              : "give a finite number"};
}

KERNELSEARCH_INLINE Fault unknown_choice(std::string_view owner, std::string_view name,
                                         std::string_view given, std::span<const std::string> choices) {
  return {option_of(name, owner) + " has no such value", std::string(given), nearest_of(given, choices)};
}

}  // namespace kernelsearch::detail
