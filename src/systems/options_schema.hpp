// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace kernelsearch::detail {

/// The JSON Schema of an object of options of `owner`, a policy or a system, before any is described.
inline nlohmann::ordered_json options_schema(std::string_view owner) {
  return {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
          {"title", "Options of " + std::string(owner)},
          {"type", "object"},
          {"properties", nlohmann::ordered_json::object()},
          {"additionalProperties", false}};
}

/// Adds the bounds that are finite to the description of an option; `whole`: as whole numbers.
inline void add_bounds(nlohmann::ordered_json& option, double least, double most, bool whole) {
  const auto bound = [&](const char* key, double number) {
    if (!std::isfinite(number)) return;
    if (whole)
      option[key] = static_cast<std::int64_t>(number);
    else
      option[key] = number;
  };
  bound("minimum", least);
  bound("maximum", most);
}

}  // namespace kernelsearch::detail
