// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>

#include "kernelsearch/core/nearest.hpp"
#include "kernelsearch/problem/evaluate.hpp"
#include "kernelsearch/problem/tunable_text.hpp"
#include "problem_parts.hpp"

namespace kernelsearch::detail {

std::string at_default(std::string_view text, const Space& space) {
  return expand_tunables(text, named_values(space, space.default_config()));
}

namespace {

constexpr const char* over_both = "shape variables and tunables";

std::vector<Expression> read_extent(const JsonCursor& place, std::span<const std::string> known,
                                    std::string_view over) {
  constexpr const char* todo = "list one to three expressions, e.g. [\"(n + BLOCK - 1) // BLOCK\"]";
  std::vector<Expression> extent;
  for (const JsonCursor& item : place.items(todo)) extent.push_back(read_expression(item, known, over));
  if (extent.empty() || extent.size() > 3) place.refuse("is not an extent", todo);
  return extent;
}

/// A function or, for compilers that take name expressions, a template's instance, either also in a
/// namespace.
std::string read_function(const JsonCursor& place, const Scope& scope, const Space& space) {
  const std::string& function = place.string("name the kernel of this step");
  check_substitutions(place, function, scope.tunables);
  const std::string text = at_default(function, space);
  if (scope.backend == Backend::opencl || scope.backend == Backend::vulkan) {
    check_name(place, text,
               scope.backend == Backend::opencl ? "a kernel of OpenCL" : "an entry point of a shader");
    return function;
  }
  constexpr const char* todo =
      "write NAME or, of a template, NAME<ARGUMENTS>, e.g. \"reduce<float, ${VEC}>\"";
  const std::size_t open = text.find('<');
  std::string_view rest = std::string_view(text).substr(0, open);
  while (true) {
    const std::size_t colons = rest.find("::");
    const std::string name(rest.substr(0, colons));
    check_name(place, name, "a kernel");
    if (std::find(scope.tunables.begin(), scope.tunables.end(), name) != scope.tunables.end())
      place.refuse(
          "is the name of a kernel and of a tunable",
          "tunables are macros in the kernel and would replace it: rename one, or write ${" + name + "}");
    if (colons == std::string_view::npos) break;
    rest.remove_prefix(colons + 2);
  }
  if (open == std::string::npos) return function;
  int depth = 0;
  for (const char c : std::string_view(text).substr(open)) {
    if (c == '(') ++depth;
    if (c == ')') --depth;
    if (static_cast<unsigned char>(c) < 32 || c == ';' || c == '{' || c == '}' || c == '"' || depth < 0)
      place.refuse("is not an instance of a template", todo);
  }
  if (text.back() != '>' || depth != 0) place.refuse("is not an instance of a template", todo);
  return function;
}

const Argument& argument_named(const JsonCursor& place, const Problem& problem) {
  const std::string& name = place.string("name an argument");
  std::vector<std::string> known;
  for (const Argument& argument : problem.arguments) {
    if (argument.name == name) return argument;
    known.push_back(argument.name);
  }
  const std::string nearest = nearest_name(name, known);
  place.refuse("names no argument",
               nearest.empty() ? "declare it under \"arguments\"" : "did you mean \"" + nearest + "\"?");
}

std::string read_zero(const JsonCursor& place, const Problem& problem) {
  const Argument& argument = argument_named(place, problem);
  if (!argument.is_array)
    place.refuse("sets something to 0 that is not an array", "name an output or a workspace");
  if (argument.role == Role::in)
    place.refuse("sets an input to 0", "inputs stay as they are: name an output or a workspace");
  return argument.name;
}

std::vector<std::string> read_step_arguments(const JsonCursor& place, const Problem& problem,
                                             const std::vector<LocalArray>& local) {
  std::vector<std::string> names;
  for (const JsonCursor& item : place.items("list the arguments of this kernel in their order")) {
    const std::string& given = item.string("name an argument");
    if (std::any_of(local.begin(), local.end(), [&](const LocalArray& one) { return one.name == given; })) {
      if (std::find(names.begin(), names.end(), given) != names.end())
        item.refuse("passes local memory twice", "each __local parameter has memory of its own: declare two");
      names.push_back(given);
      continue;
    }
    const Argument& argument = argument_named(item, problem);
    if (!argument.symbol.empty())
      item.refuse("passes a constant symbol", "the kernel finds it as " + argument.symbol + ": remove it");
    names.push_back(argument.name);
  }
  if (names.empty()) place.refuse("lists no argument", "leave the key out to pass all of them");
  return names;
}

/// `[{"name": NAME, "bytes": EXPRESSION}, ...]`.
std::vector<LocalArray> read_local(const JsonCursor& place, std::span<const std::string> known,
                                   std::string_view over, Backend backend,
                                   std::span<const Argument> arguments) {
  constexpr const char* todo = "write [{\"name\": NAME, \"bytes\": \"...\"}]";
  if (backend != Backend::opencl)
    place.refuse("gives a kernel __local parameters, which OpenCL alone has",
                 "give \"shared_bytes\" on CUDA and HIP; shaders declare their shared memory themselves");
  std::vector<LocalArray> local;
  for (const JsonCursor& item : place.items(todo)) {
    item.only({"name", "bytes"});
    const JsonCursor named = item.at("name", todo);
    const std::string name = named.string("name the parameter");
    check_name(named, name, "a parameter");
    if (std::any_of(arguments.begin(), arguments.end(),
                    [&](const Argument& argument) { return argument.name == name; }))
      named.refuse("is the name of an argument",
                   "call it otherwise: \"arguments\" of a step would name both");
    if (std::any_of(local.begin(), local.end(), [&](const LocalArray& other) { return other.name == name; }))
      named.refuse("is declared twice", "give each parameter a name of its own");
    local.push_back({name, read_expression(item.at("bytes", todo), known, over)});
  }
  if (local.empty()) place.refuse("lists no parameter", "leave the key out");
  return local;
}

LaunchStep read_step(const JsonCursor& place, const Scope& scope, const Problem& problem,
                     const Space& space) {
  constexpr const char* todo =
      "write {\"function\": NAME, \"grid\": [...], \"block\": [...]} or {\"zero\": NAME}";
  LaunchStep step;
  if (const auto zero = place.find("zero")) {
    for (const char* key : {"function", "arguments", "grid", "block", "cluster", "shared_bytes", "local"})
      if (const auto other = place.find(key))
        other->refuse("belongs to a launch, but this step sets " + zero->show() + " to 0",
                      "make it two steps");
    place.only({"zero", "if"});
    step.zero = read_zero(*zero, problem);
  } else {
    place.only({"function", "arguments", "grid", "block", "cluster", "shared_bytes", "local", "if", "zero"});
    step.function = read_function(place.at("function", todo), scope, space);
    step.geometry = read_geometry(place, scope.both, over_both, scope.backend, problem.arguments);
    if (const auto arguments = place.find("arguments"))
      step.arguments = read_step_arguments(*arguments, problem, step.geometry.local);
  }
  if (const auto condition = place.find("if"))
    step.condition = read_expression(*condition, scope.both, over_both);
  return step;
}

/// Whether the step's kernel gets the array, itself or by a tensor map of it.
bool passes(const LaunchStep& step, const Problem& problem, const std::string& array) {
  if (step.function.empty()) return false;
  return std::any_of(problem.arguments.begin(), problem.arguments.end(), [&](const Argument& argument) {
    const bool given = step.arguments.empty() || std::find(step.arguments.begin(), step.arguments.end(),
                                                           argument.name) != step.arguments.end();
    return given && (argument.name == array || (argument.tensor_map && argument.tensor_map->array == array));
  });
}

}  // namespace

LaunchGeometry read_geometry(const JsonCursor& place, std::span<const std::string> known,
                             std::string_view over, Backend backend, std::span<const Argument> arguments) {
  constexpr const char* todo = "write {\"grid\": [\"...\"], \"block\": [\"...\"]}";
  LaunchGeometry geometry;
  geometry.grid = read_extent(place.at("grid", todo), known, over);
  geometry.block = read_extent(place.at("block", todo), known, over);
  if (const auto cluster = place.find("cluster")) geometry.cluster = read_extent(*cluster, known, over);
  if (const auto bytes = place.find("shared_bytes"))
    geometry.shared_bytes = read_expression(*bytes, known, over);
  if (const auto local = place.find("local"))
    geometry.local = read_local(*local, known, over, backend, arguments);
  return geometry;
}

std::vector<LaunchStep> read_launch(const JsonCursor& place, const Scope& scope, const Problem& problem,
                                    const Space& space) {
  constexpr const char* todo =
      "write {\"grid\": [\"...\"], \"block\": [\"...\"]}, or a list of steps with a \"function\" each";
  std::vector<LaunchStep> steps;
  if (place.kind() == JsonNode::Kind::object) {
    for (const char* key : {"function", "arguments", "zero", "if"})
      if (const auto found = place.find(key)) found->refuse("belongs to one of several steps", todo);
    place.only({"grid", "block", "cluster", "shared_bytes", "local"});
    steps.emplace_back().function = problem.function;
    steps.front().geometry = read_geometry(place, scope.both, over_both, scope.backend, problem.arguments);
  } else {
    for (const JsonCursor& item : place.items(todo)) steps.push_back(read_step(item, scope, problem, space));
  }
  for (const Argument& argument : problem.arguments)
    if (argument.is_output() && std::none_of(steps.begin(), steps.end(), [&](const LaunchStep& step) {
          return passes(step, problem, argument.name);
        }))
      place.refuse("passes an output to no kernel", argument.name,
                   "name it among the \"arguments\" of the step that writes it");
  return steps;
}

}  // namespace kernelsearch::detail
