// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "values_json.hpp"

#include <cstdint>
#include <variant>

namespace kernelsearch::detail {

nlohmann::ordered_json values_json(const NamedValues& values) {
  nlohmann::ordered_json object = nlohmann::ordered_json::object();
  for (const auto& [name, value] : values)
    std::visit([&object, &key = name](const auto& one) { object[key] = one; }, value);
  return object;
}

NamedValues values_of(const nlohmann::ordered_json& object) {
  NamedValues values;
  for (const auto& [name, value] : object.get_ref<const nlohmann::ordered_json::object_t&>()) {
    if (value.is_boolean())
      values.emplace_back(name, value.get<bool>());
    else if (value.is_number_integer())
      values.emplace_back(name, value.get<std::int64_t>());
    else if (value.is_number_float())
      values.emplace_back(name, value.get<double>());
    else if (value.is_string())
      values.emplace_back(name, value.get<std::string>());
    else
      values.emplace_back(name, value.get<Permutation>());
  }
  return values;
}

}  // namespace kernelsearch::detail
