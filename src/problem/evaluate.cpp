// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/problem/evaluate.hpp"

#include <initializer_list>
#include <string>
#include <utility>
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

Value evaluate_over(const Expression& expression, std::initializer_list<std::span<const NamedValue>> sources,
                    std::string_view what) {
  std::vector<Value> values;
  values.reserve(expression.names().size());
  for (std::size_t slot = 0; slot < expression.names().size(); ++slot) {
    const std::string& name = expression.names()[slot];
    const Value* value = nullptr;
    for (const auto& source : sources)
      if (value == nullptr) value = find(source, name);
    if (value == nullptr && expression.uses(slot)) {
      std::vector<std::string> known;
      for (const auto& source : sources)
        for (const NamedValue& variable : source) known.push_back(variable.first);
      const std::string nearest = nearest_name(name, known);
      detail::raise<ConfigError>(
          std::string(what) + " names something unknown", name + " in " + expression.text(),
          nearest.empty() ? "give it a value in every shape" : "did you mean " + nearest + "?");
    }
    values.push_back(value != nullptr ? *value : Value{std::int64_t{0}});
  }
  return expression.evaluate(values);
}

}  // namespace

Value evaluate(const Expression& expression, std::span<const NamedValue> variables,
               std::span<const NamedValue> more, std::string_view what) {
  return evaluate_over(expression, {variables, more}, what);
}

Value detail::evaluate_at(const Expression& expression, const Shape& shape, std::span<const NamedValue> more,
                          std::string_view what) {
  return evaluate_over(expression, {shape.variables, shape.generated, more}, what);
}

std::vector<NamedValue> named_values(const Space& space, const Config& config) {
  std::vector<NamedValue> values;
  for (std::size_t i = 0; i < space.size(); ++i)
    values.emplace_back(space.tunable(i).name, space.value(config, i));
  return values;
}

bool is_true(const Value& value) noexcept {
  if (const auto* text = std::get_if<std::string>(&value)) return !text->empty();
  if (const auto* order = std::get_if<Permutation>(&value)) return !order->empty();
  return to_number(value) != 0.0;
}

namespace {

bool accepts(const Problem& problem, const Shape& shape, std::span<const NamedValue> tunables) {
  try {
    return is_true(evaluate(*problem.valid, shape, tunables, "`valid`"));
  } catch (const ConfigError&) {
    return false;  // as for constraints: a division by zero, say, accepts nothing
  }
}

}  // namespace

bool is_valid(const Problem& problem, const Shape& shape, const Config& config) {
  return !problem.valid || accepts(problem, shape, named_values(problem.kernel.space, config));
}

bool is_valid(const Problem& problem, const Shape& shape, const Candidate& candidate) {
  if (!problem.valid) return true;
  std::vector<NamedValue> tunables = named_values(candidate.kernel->space, candidate.config);
  for (NamedValue& value : named_values(problem.kernel.space, problem.kernel.space.default_config()))
    tunables.push_back(std::move(value));  // found only where the kernel has no tunable of that name
  return accepts(problem, shape, tunables);
}

}  // namespace kernelsearch
