// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/systems/policy_options_schema.hpp"

#include <nlohmann/json.hpp>
#include <optional>
#include <variant>

#include "options_schema.hpp"

namespace kernelsearch {

std::string policy_options_schema(const ConfigPolicyEntry& policy) {
  nlohmann::ordered_json schema = detail::options_schema(policy.name);
  for (const PolicyOption& option : policy.options) {
    nlohmann::ordered_json one = nlohmann::ordered_json::object();
    switch (option.type) {
      case PolicyOptionType::flag:
        one["type"] = "boolean";
        break;
      case PolicyOptionType::count:
        one["type"] = "integer";
        break;
      case PolicyOptionType::number:
        one["type"] = "number";
        break;
      case PolicyOptionType::text:
        one["type"] = "string";
        break;
      case PolicyOptionType::texts:
        one["type"] = "array";
        one["items"] = {{"type", "string"}};
        break;
    }
    one["description"] = option.summary;
    if (const std::optional<PolicyOptionValue> standard = policy.standard(option))
      std::visit([&one](const auto& value) { one["default"] = value; }, *standard);
    detail::add_bounds(one, option.least, option.most, option.type == PolicyOptionType::count);
    if (!option.choices.empty()) one["enum"] = option.choices;
    schema["properties"][std::string(option.name)] = std::move(one);
  }
  return schema.dump(2);
}

}  // namespace kernelsearch
