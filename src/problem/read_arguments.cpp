// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <cmath>

#include "kernelsearch/core/nearest.hpp"
#include "problem_parts.hpp"

namespace kernelsearch::detail {
namespace {

ElementType read_type(const JsonCursor& place) {
  return static_cast<ElementType>(place.choice(
      "element type",
      {"f16", "bf16", "f32", "f64", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "bool"}));
}

double finite(const JsonCursor& place, std::string_view todo) {
  const double value = place.number(todo);
  if (!std::isfinite(value)) place.refuse("is not finite", todo);
  return value;
}

/// Where a range is not given: [-1, 1) for floats, small whole numbers otherwise, so that sums do not
/// overflow.
void default_range(Argument& argument) {
  argument.low = -1.0;
  argument.high = 1.0;
  if (argument.initialisation == Initialisation::normal) {
    argument.low = 0.0;
  } else if (!is_floating(argument.type)) {
    const bool is_signed = argument.type >= ElementType::i8 && argument.type <= ElementType::i64;
    argument.low = is_signed ? -64.0 : 0.0;
    argument.high = is_signed ? 64.0 : 128.0;
  }
  if (argument.type == ElementType::boolean) argument.high = 2.0;
}

void read_fill(const JsonCursor& place, Argument& argument) {
  if (const auto init = place.find("init"))
    argument.initialisation = static_cast<Initialisation>(
        init->choice("initialisation",
                     {"zeros", "ones", "uniform", "normal", "arange", "permutation", "ill_conditioned"}));
  default_range(argument);
  const bool normal = argument.initialisation == Initialisation::normal;
  const bool ranged = argument.initialisation == Initialisation::uniform ||
                      argument.initialisation == Initialisation::ill_conditioned;
  for (const char* key : {"low", "high"}) {
    const auto bound = place.find(key);
    if (!bound) continue;
    if (!ranged)
      bound->refuse("is a bound that this initialisation has not",
                    normal ? "a normal distribution has \"mean\" and \"deviation\""
                           : "remove it, or use \"init\": \"uniform\"");
    (*key == 'l' ? argument.low : argument.high) = finite(*bound, "give a number");
  }
  for (const char* key : {"mean", "deviation"}) {
    const auto parameter = place.find(key);
    if (!parameter) continue;
    if (!normal)
      parameter->refuse("belongs to a normal distribution", "add \"init\": \"normal\", or use low and high");
    (*key == 'm' ? argument.low : argument.high) = finite(*parameter, "give a number");
    if (*key == 'd' && argument.high < 0) parameter->refuse("is a negative deviation", "give a number >= 0");
  }
  if (ranged && !(argument.low < argument.high))
    place.refuse("has an empty range",
                 "low " + to_string(Value{argument.low}) + ", high " + to_string(Value{argument.high}),
                 "give low < high");
}

void read_array(const JsonCursor& place, const JsonCursor& size, Argument& argument,
                std::span<const std::string> variables, std::span<const std::string> tunables) {
  argument.is_array = true;
  if (const auto role = place.find("role"))
    argument.role = static_cast<Role>(role->choice("role", {"in", "out", "inout"}));
  if (argument.role == Role::in) {
    std::vector<std::string> known(variables.begin(), variables.end());
    known.insert(known.end(), tunables.begin(), tunables.end());
    argument.size = read_expression(size, known, "shape variables and tunables");
  } else {
    for (const std::string& name : tunables)
      if (size.kind() == JsonNode::Kind::string) {
        std::string error;
        const auto expression = Expression::try_parse(size.node().string, error);
        if (expression && std::find(expression->names().begin(), expression->names().end(), name) !=
                              expression->names().end())
          size.refuse("makes the size of an output depend on a tunable",
                      "the reference has no tunables: only inputs (say, work space) may do so");
      }
    argument.size = read_expression(size, variables, "shape variables");
  }
  if (const auto value = place.find("value"))
    value->refuse("is a value for an array",
                  "use \"init\" to say how it is filled, or remove \"size\" to make it a scalar");
  if (argument.role == Role::out)
    for (const char* key : {"init", "low", "high", "mean", "deviation"})
      if (const auto fill = place.find(key))
        fill->refuse(
            "fills an output",
            "outputs are poisoned before each call; if the kernel reads it, use \"role\": \"inout\"");
  read_fill(place, argument);
  if (const auto tolerance = place.find("tolerance")) {
    if (argument.role == Role::in)
      tolerance->refuse("is a tolerance for an input", "inputs are not compared: remove it");
    argument.tolerance = read_tolerance(*tolerance, argument.type);
  }
}

void read_scalar(const JsonCursor& place, Argument& argument, std::span<const std::string> variables) {
  for (const char* key : {"init", "low", "high", "mean", "deviation", "tolerance"})
    if (const auto found = place.find(key))
      found->refuse("means nothing for a scalar",
                    "give the argument a \"size\" to make it an array, or a \"value\"");
  if (const auto role = place.find("role"))
    if (role->choice("role", {"in", "out", "inout"}) != 0)
      role->refuse("makes a scalar an output",
                   "scalars are passed by value: use an array of \"size\": \"1\"");
  if (const auto value = place.find("value")) {
    argument.value = read_expression(*value, variables, "shape variables");
    return;
  }
  if (std::find(variables.begin(), variables.end(), argument.name) != variables.end()) return;
  const std::string nearest = nearest_name(argument.name, variables);
  place.refuse("is a scalar without a value", argument.name,
               "name a shape variable after it, give it a \"value\", or a \"size\" to make it an array" +
                   (nearest.empty() ? std::string() : "; did you mean " + nearest + '?'));
}

}  // namespace

Tolerance read_tolerance(const JsonCursor& place, ElementType type) {
  place.only({"absolute", "relative"});
  Tolerance tolerance = default_tolerance(type);
  for (const char* key : {"absolute", "relative"}) {
    const auto bound = place.find(key);
    if (!bound) continue;
    const double value = finite(*bound, "give a number >= 0");
    if (value < 0) bound->refuse("is a negative tolerance", "give a number >= 0");
    (*key == 'a' ? tolerance.absolute : tolerance.relative) = value;
  }
  return tolerance;
}

std::vector<std::pair<ElementType, Tolerance>> read_tolerances(const JsonCursor& place) {
  constexpr const char* todo = "write {\"f32\": {\"absolute\": 1e-4, \"relative\": 1e-4}}";
  place.only({"f16", "bf16", "f32", "f64", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "bool"});
  std::vector<std::pair<ElementType, Tolerance>> tolerances;
  for (const auto& [key, member] : place.members(todo)) {
    const ElementType type = *element_type_from(key);
    tolerances.emplace_back(type, read_tolerance(member, type));
  }
  return tolerances;
}

std::vector<Argument> read_arguments(const JsonCursor& place, std::span<const std::string> variables,
                                     std::span<const std::string> tunables) {
  constexpr const char* todo = "list the parameters of the function in their order";
  std::vector<Argument> arguments;
  bool output = false;
  for (const JsonCursor& item : place.items(todo)) {
    item.only(
        {"name", "type", "size", "role", "init", "low", "high", "mean", "deviation", "value", "tolerance"});
    Argument argument;
    const JsonCursor name = item.at("name", "name the argument as in the function's signature");
    argument.name = name.string("name the argument as in the function's signature");
    check_name(name, argument.name, "an argument");
    for (const Argument& other : arguments)
      if (other.name == argument.name) name.refuse("is the name of two arguments", "give each its own name");
    if (std::find(tunables.begin(), tunables.end(), argument.name) != tunables.end())
      name.refuse("is the name of an argument and of a tunable",
                  "tunables are macros in the kernel and would replace it: rename one");
    argument.type = read_type(item.at("type", "give its element type, e.g. \"f32\""));
    if (const auto size = item.find("size"))
      read_array(item, *size, argument, variables, tunables);
    else
      read_scalar(item, argument, variables);
    output = output || argument.role != Role::in;
    arguments.push_back(std::move(argument));
  }
  if (!output)
    place.refuse("has no output", std::to_string(arguments.size()) + " arguments",
                 "give at least one array \"role\": \"out\" or \"inout\"");
  return arguments;
}

}  // namespace kernelsearch::detail
