// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "problem_json.hpp"

#include <string_view>

#include "kernelsearch/store/json.hpp"
#include "problem/metric.hpp"

namespace kernelsearch::detail {

using nlohmann::json;

namespace {

json texts_of(const std::vector<Expression>& expressions) {
  json list = json::array();
  for (const Expression& one : expressions) list.push_back(one.text());
  return list;
}

json argument_json(const Problem& problem, const Argument& argument) {
  json out{{"name", argument.name},
           {"kind", argument.tensor_map ? "tensor_map"
                    : argument.is_array ? "array"
                                        : "scalar"},
           {"type", argument.type_text()}};
  if (argument.tensor_map) {
    out["type"] = "tensor map";
    out["of"] = argument.tensor_map->array;
    return out;
  }
  if (argument.value) out["value"] = argument.value->text();
  if (!argument.symbol.empty()) out["symbol"] = argument.symbol;
  if (!argument.is_array) return out;
  out["role"] = to_string(argument.role);
  if (argument.size) out["elements"] = argument.size->text();
  if (argument.is_input() && argument.initialisation == Initialisation::uniform && !argument.low_expression &&
      !argument.high_expression)
    out["range"] = {argument.low, argument.high};
  if (detail::is_unchecked(argument)) {
    out["check"] = false;
  } else if (argument.is_output()) {
    const Tolerance tolerance = problem.tolerance_of(argument);
    out["tolerance"] = {{"absolute", problem.bit_exact ? 0.0 : tolerance.absolute},
                        {"relative", problem.bit_exact ? 0.0 : tolerance.relative}};
  }
  return out;
}

json launch_json(const LaunchStep& step) {
  if (step.function.empty()) return {{"zero", step.zero}};
  json out{{"function", step.function},
           {"arguments", step.arguments},
           {"grid", texts_of(step.geometry.grid)},
           {"block", texts_of(step.geometry.block)}};
  if (!step.geometry.cluster.empty()) out["cluster"] = texts_of(step.geometry.cluster);
  if (step.geometry.shared_bytes) out["shared_bytes"] = step.geometry.shared_bytes->text();
  for (const LocalArray& one : step.geometry.local)
    out["local"].push_back({{"name", one.name}, {"bytes", one.bytes.text()}});
  if (step.condition) out["if"] = step.condition->text();
  return out;
}

}  // namespace

json space_json(const Space& space) {
  json out{{"tunables", json::array()}, {"constraints", json::array()}};
  out["configurations"] = space.count().to_string();
  for (const Tunable& tunable : space.tunables()) {
    json values = json::array();
    for (const Value& value : tunable.values) values.push_back(value_to_json(value));
    out["tunables"].push_back({{"name", tunable.name},
                               {"kind", to_string(tunable.kind)},
                               {"values", std::move(values)},
                               {"default", value_to_json(tunable.values[tunable.default_index])}});
    if (tunable.active_if) out["tunables"].back()["if"] = tunable.active_if->text();
  }
  for (const Constraint& constraint : space.constraints())
    out["constraints"].push_back(std::string(constraint.text()));
  return out;
}

json problem_json(const Problem& problem) {
  json out{{"name", problem.name},
           {"description", problem.description},
           {"backend", to_string(problem.backend)},
           {"function", problem.function},
           {"arguments", json::array()},
           {"shapes", json::array()},
           {"hidden_shapes", problem.hidden_shapes.has_value()},
           {"bit_exact", problem.bit_exact},
           {"launch", json::array()},
           {"space", space_json(problem.kernel.space)},
           {"build",
            {{"compiler", problem.build.compiler},
             {"flags", problem.build.flags},
             {"libraries", problem.build.libraries}}},
           {"counted_as", to_string(problem.aggregate)},
           {"threads", problem.threads},
           {"traits", problem.traits}};
  if (!problem.build.command.empty()) out["build"]["command"] = problem.build.command;
  if (problem.external) {
    out["external"] = {{"command", problem.external->command}, {"time", to_string(problem.external->clock)}};
    out.erase("build");
  }
  for (const Argument& argument : problem.arguments)
    out["arguments"].push_back(argument_json(problem, argument));
  for (const Shape& shape : problem.shapes) {
    json variables = json::object();
    for (const auto& [name, value] : shape.variables) variables[name] = value_to_json(value);
    out["shapes"].push_back(
        {{"name", shape.name}, {"variables", std::move(variables)}, {"weight", shape.weight}});
  }
  for (const LaunchStep& step : problem.launch) out["launch"].push_back(launch_json(step));
  if (problem.valid) out["valid"] = problem.valid->text();
  if (problem.operations) out["operations"] = problem.operations->text();
  if (problem.bytes) out["bytes"] = problem.bytes->text();
  if (!problem.objectives.only_time()) out["objectives"] = problem.objectives.text();
  return out;
}

}  // namespace kernelsearch::detail
