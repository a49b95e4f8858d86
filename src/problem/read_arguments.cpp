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

std::optional<Role> read_role(const JsonCursor& argument) {
  const auto role = argument.find("role");
  if (!role) return std::nullopt;
  return static_cast<Role>(role->choice("role", {"in", "out", "inout", "workspace"}));
}

/// Outputs and workspaces hold nothing of ours before a call.
void refuse_fill(const JsonCursor& place, const char* what, const char* todo) {
  for (const char* key : {"init", "low", "high", "mean", "deviation"})
    if (const auto fill = place.find(key)) fill->refuse(what, todo);
}

void read_symbol(const JsonCursor& place, Argument& argument, const Scope& scope) {
  argument.symbol = place.string("name the __constant__ variable of the kernel");
  if (!is_gpu(scope.backend))
    place.refuse("is a __constant__ variable, which only cuda and hip kernels have",
                 "remove it: the array is a parameter then");
  check_name(place, argument.symbol, "a __constant__ variable");
  if (argument.role != Role::in)
    place.refuse("makes an array constant that is no input", "constant memory is read only: remove it");
  if (std::find(scope.tunables.begin(), scope.tunables.end(), argument.symbol) != scope.tunables.end())
    place.refuse("is the name of a symbol and of a tunable",
                 "tunables are macros in the kernel and would replace it: rename one");
}

void read_array(const JsonCursor& place, const JsonCursor& size, Argument& argument, const Scope& scope) {
  argument.is_array = true;
  argument.role = read_role(place).value_or(Role::in);
  if (argument.role == Role::workspace && scope.on_host())
    place.at("role", "")
        .refuse("is scratch memory of device kernels",
                "allocate it in the kernel, or use an input with \"init\": \"zeros\"");
  if (argument.role == Role::in || argument.role == Role::workspace) {
    argument.size = read_expression(size, scope.both, "shape variables and tunables");
  } else {
    for (const std::string& name : scope.tunables)
      if (size.kind() == JsonNode::Kind::string) {
        std::string error;
        const auto expression = Expression::try_parse(size.node().string, error);
        if (expression && std::find(expression->names().begin(), expression->names().end(), name) !=
                              expression->names().end())
          size.refuse("makes the size of an output depend on a tunable",
                      "the reference has no tunables: only inputs and workspaces may do so");
      }
    argument.size = read_expression(size, scope.variables, "shape variables");
  }
  if (const auto value = place.find("value"))
    value->refuse("is a value for an array",
                  "use \"init\" to say how it is filled, or remove \"size\" to make it a scalar");
  if (argument.role == Role::out)
    refuse_fill(place, "fills an output",
                "outputs are poisoned before each call; if the kernel reads it, use \"role\": \"inout\"");
  if (argument.role == Role::workspace)
    refuse_fill(
        place, "fills a workspace",
        "workspaces are undefined before each call; a step {\"zero\": NAME} of the launch sets one to 0");
  read_fill(place, argument);
  if (const auto tolerance = place.find("tolerance")) {
    if (argument.role == Role::in)
      tolerance->refuse("is a tolerance for an input", "inputs are not compared: remove it");
    if (argument.role == Role::workspace)
      tolerance->refuse("is a tolerance for a workspace", "workspaces are not compared: remove it");
    argument.tolerance = read_tolerance(*tolerance, argument.type);
  }
  if (const auto symbol = place.find("symbol")) read_symbol(*symbol, argument, scope);
}

void read_scalar(const JsonCursor& place, Argument& argument, std::span<const std::string> variables) {
  for (const char* key : {"init", "low", "high", "mean", "deviation", "tolerance", "symbol"})
    if (const auto found = place.find(key))
      found->refuse("means nothing for a scalar",
                    "give the argument a \"size\" to make it an array, or a \"value\"");
  const Role role = read_role(place).value_or(Role::in);
  if (role == Role::workspace)
    place.refuse("is a workspace without a size", argument.name, "give its number of elements as \"size\"");
  if (role != Role::in)
    place.at("role", "")
        .refuse("makes a scalar an output", "scalars are passed by value: use an array of \"size\": \"1\"");
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

void read_map(const JsonCursor& place, const JsonCursor& map, Argument& argument, const Scope& scope) {
  for (const char* key :
       {"type", "size", "role", "init", "low", "high", "mean", "deviation", "value", "tolerance", "symbol"})
    if (const auto found = place.find(key))
      found->refuse("means nothing for a tensor map",
                    "it belongs to the array that the map describes: remove it");
  argument.tensor_map = read_tensor_map(map, scope);
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

std::vector<Argument> read_arguments(const JsonCursor& place, const Scope& scope) {
  constexpr const char* todo = "list the parameters of the function in their order";
  std::vector<Argument> arguments;
  bool output = false;
  const std::vector<JsonCursor> items = place.items(todo);
  for (const JsonCursor& item : items) {
    item.only({"name", "type", "size", "role", "init", "low", "high", "mean", "deviation", "value",
               "tolerance", "tensor_map", "symbol"});
    Argument argument;
    const JsonCursor name = item.at("name", "name the argument as in the function's signature");
    argument.name = name.string("name the argument as in the function's signature");
    check_name(name, argument.name, "an argument");
    for (const Argument& other : arguments)
      if (other.name == argument.name) name.refuse("is the name of two arguments", "give each its own name");
    if (std::find(scope.tunables.begin(), scope.tunables.end(), argument.name) != scope.tunables.end())
      name.refuse("is the name of an argument and of a tunable",
                  "tunables are macros in the kernel and would replace it: rename one");
    const auto map = item.find("tensor_map");
    if (!map) argument.type = read_type(item.at("type", "give its element type, e.g. \"f32\""));
    if (map)
      read_map(item, *map, argument, scope);
    else if (const auto size = item.find("size"))
      read_array(item, *size, argument, scope);
    else
      read_scalar(item, argument, scope.variables);
    for (const Argument& other : arguments)
      if (!argument.symbol.empty() && other.symbol == argument.symbol)
        item.at("symbol", "").refuse("is the symbol of two arguments", "give each its own variable");
    output = output || argument.is_output();
    arguments.push_back(std::move(argument));
  }
  check_tensor_maps(items, arguments);
  if (!output)
    place.refuse("has no output", std::to_string(arguments.size()) + " arguments",
                 "give at least one array \"role\": \"out\" or \"inout\"");
  return arguments;
}

}  // namespace kernelsearch::detail
