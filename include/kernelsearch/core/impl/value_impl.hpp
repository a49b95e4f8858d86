// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <charconv>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/core/value.hpp"

namespace kernelsearch {

KERNELSEARCH_INLINE std::string to_string(const Value& value) {
  struct Visitor {
    std::string operator()(bool b) const { return b ? "true" : "false"; }
    std::string operator()(std::int64_t i) const { return std::to_string(i); }
    std::string operator()(double d) const {
      char buffer[40];
      const auto end = std::to_chars(buffer, buffer + sizeof buffer, d);
      std::string text(buffer, end.ptr);
      if (text.find_first_of(".enai") == std::string::npos) text += ".0";
      return text;
    }
    std::string operator()(const std::string& s) const { return s; }
    std::string operator()(const Permutation& order) const {
      std::string text = "[";
      for (std::size_t i = 0; i < order.size(); ++i) {
        if (i != 0) text += ", ";
        text += std::to_string(order[i]);
      }
      return text + "]";
    }
  };
  return std::visit(Visitor{}, value);
}

KERNELSEARCH_INLINE std::optional<double> try_to_number(const Value& value) noexcept {
  if (const auto* b = std::get_if<bool>(&value)) return *b ? 1.0 : 0.0;
  if (const auto* i = std::get_if<std::int64_t>(&value)) return static_cast<double>(*i);
  if (const auto* d = std::get_if<double>(&value)) return *d;
  return std::nullopt;
}

KERNELSEARCH_INLINE double to_number(const Value& value) {
  if (const std::optional<double> number = try_to_number(value)) return *number;
  detail::raise<ConfigError>("a " + std::string(type_name(value)) + " has no number", to_string(value),
                             "ask try_to_number() where it may be one, or use to_string()");
}

KERNELSEARCH_INLINE const char* type_name(const Value& value) noexcept {
  constexpr const char* names[] = {"bool", "int", "float", "string", "permutation"};
  return names[value.index()];
}

}  // namespace kernelsearch
