// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <cmath>

#include "problem_parts.hpp"

namespace kernelsearch::detail {
namespace {

constexpr std::size_t most_shapes = 4096;

struct Variable {
  std::string name;
  std::vector<Value> values;
};

std::vector<Value> read_variable(const JsonCursor& place) {
  constexpr const char* todo = "give a number, a bool, a list of them, or {\"range\": [from, to, step]}";
  if (place.kind() == JsonNode::Kind::object) {
    place.only({"range"});
    return read_range(place.at("range", todo));
  }
  if (place.kind() != JsonNode::Kind::array) {
    const Value value = place.value(todo);
    if (value.index() == 3) place.refuse("is a string, which no scalar argument can be", todo);
    return {value};
  }
  std::vector<Value> values;
  for (const JsonCursor& item : place.items(todo)) {
    const Value value = item.value(todo);
    if (value.index() == 3) item.refuse("is a string, which no scalar argument can be", todo);
    if (std::find(values.begin(), values.end(), value) != values.end())
      item.refuse("is listed twice", "each value of a variable once");
    values.push_back(value);
  }
  if (values.empty()) place.refuse("lists no value", todo);
  return values;
}

/// Appends the product of the variables' values, the last variable running fastest.
void expand(const JsonCursor& place, const std::string& name, double weight,
            const std::vector<Variable>& variables, std::vector<Shape>& shapes) {
  std::size_t count = 1;
  for (const Variable& variable : variables) {
    count *= variable.values.size();
    if (shapes.size() + count > most_shapes)
      place.refuse("expands to too many shapes", "over " + std::to_string(most_shapes) + " in all",
                   "every candidate is checked on all of them: list fewer values");
  }
  for (std::size_t i = 0; i < count; ++i) {
    Shape shape;
    shape.weight = weight;
    std::size_t rest = i;
    std::string suffix;
    for (std::size_t v = variables.size(); v-- > 0;) {
      const Variable& variable = variables[v];
      const Value& value = variable.values[rest % variable.values.size()];
      rest /= variable.values.size();
      shape.variables.emplace(shape.variables.begin(), variable.name, value);
      if (variable.values.size() > 1 || name.empty()) {
        std::string part = variable.name;
        (part += '=') += to_string(value);
        suffix = suffix.empty() ? part : part + ' ' + suffix;
      }
    }
    shape.name = name;
    if (!suffix.empty()) (shape.name += name.empty() ? "" : " ") += suffix;
    if (shape.name.empty()) shape.name = "shape " + std::to_string(shapes.size() + 1);
    for (const Shape& other : shapes)
      if (other.name == shape.name)
        place.refuse("is called like another shape", '"' + shape.name + '"',
                     "give each shape its own \"name\"");
    shapes.push_back(std::move(shape));
  }
}

void check_same_variables(const JsonCursor& place, const Shape& first, const Shape& shape) {
  const auto has = [](const Shape& where, const std::string& name) {
    return std::any_of(where.variables.begin(), where.variables.end(),
                       [&](const NamedValue& variable) { return variable.first == name; });
  };
  for (const NamedValue& variable : first.variables)
    if (!has(shape, variable.first))
      place.refuse("lacks a variable that shape \"" + first.name + "\" has", variable.first,
                   "all shapes have the same variables");
  for (const NamedValue& variable : shape.variables)
    if (!has(first, variable.first))
      place.refuse("has a variable that shape \"" + first.name + "\" lacks", variable.first,
                   "all shapes have the same variables");
}

}  // namespace

std::vector<Shape> read_shapes(const JsonCursor& place) {
  constexpr const char* todo = "list at least one shape, e.g. [{\"name\": \"large\", \"n\": 1048576}]";
  std::vector<Shape> shapes;
  for (const JsonCursor& item : place.items(todo)) {
    std::string name;
    double weight = 1.0;
    std::vector<Variable> variables;
    for (const auto& [key, member] :
         item.members("a shape is an object such as {\"name\": \"large\", \"n\": 1048576}")) {
      if (key == "name") {
        name = member.string("give the shape a name, e.g. \"large\"");
      } else if (key == "weight") {
        weight = member.number("give a number >= 0; 0 means checked but not timed");
        if (weight < 0)
          member.refuse("is a negative weight", "give a number >= 0; 0 means checked but not timed");
      } else {
        check_name(member, key, "a shape variable");
        variables.push_back({key, read_variable(member)});
      }
    }
    const std::size_t before = shapes.size();
    expand(item, name, weight, variables, shapes);
    check_same_variables(item, shapes.front(), shapes[before]);
  }
  if (shapes.empty()) place.refuse("lists no shape", todo);
  return shapes;
}

}  // namespace kernelsearch::detail
