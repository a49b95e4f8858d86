// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/problem/evaluate.hpp"

#include <string>
#include <vector>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/core/nearest.hpp"

namespace kernelsearch {
namespace {

const Value* find(std::span<const NamedValue> values, const std::string& name) noexcept {
  for (const NamedValue& value : values)
    if (value.first == name) return &value.second;
  return nullptr;
}

}  // namespace

Value evaluate(const Expression& expression, std::span<const NamedValue> variables,
               std::span<const NamedValue> more, std::string_view what) {
  std::vector<Value> values;
  values.reserve(expression.names().size());
  for (std::size_t slot = 0; slot < expression.names().size(); ++slot) {
    const std::string& name = expression.names()[slot];
    const Value* value = find(variables, name);
    if (value == nullptr) value = find(more, name);
    if (value == nullptr && expression.uses(slot)) {
      std::vector<std::string> known;
      for (const NamedValue& variable : variables) known.push_back(variable.first);
      for (const NamedValue& variable : more) known.push_back(variable.first);
      const std::string nearest = nearest_name(name, known);
      detail::raise<ConfigError>(
          std::string(what) + " names something unknown", name + " in " + expression.text(),
          nearest.empty() ? "give it a value in every shape" : "did you mean " + nearest + "?");
    }
    values.push_back(value != nullptr ? *value : Value{std::int64_t{0}});
  }
  return expression.evaluate(values);
}

}  // namespace kernelsearch
