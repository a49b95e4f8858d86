// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "kernelsearch/core/field.hpp"

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

/// The name that JSON Schema has for a type.
inline const char* json_type(FieldType type) {
  constexpr const char* names[] = {"boolean", "integer", "number", "string", "array", "array", "integer"};
  return names[static_cast<std::size_t>(type)];
}

/// An option as JSON Schema describes it; `standard`: its value where it is left out, where there is one.
inline nlohmann::ordered_json field_schema(const Field& field, const std::optional<FieldValue>& standard) {
  nlohmann::ordered_json one{{"type", json_type(field.type)}};
  if (field.type == FieldType::texts) one["items"] = {{"type", "string"}};
  if (field.type == FieldType::counts) one["items"] = {{"type", "integer"}};
  one["description"] = field.summary;
  if (standard) std::visit([&one](const auto& value) { one["default"] = value; }, *standard);
  if (field.type == FieldType::natural) one["minimum"] = 0;
  add_bounds(field.type == FieldType::counts ? one["items"] : one, field.least, field.most,
             field.type != FieldType::number);
  if (!field.choices.empty()) one["enum"] = field.choices;
  return one;
}

}  // namespace kernelsearch::detail
