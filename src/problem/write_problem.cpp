// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/problem/write_problem.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/core/result.hpp"
#include "kernelsearch/problem/command_task.hpp"
#include "metric.hpp"
#include "shader/ready_module.hpp"
#include "write_files.hpp"

namespace kernelsearch {
namespace {

using OrderedJson = nlohmann::ordered_json;

OrderedJson to_json(const Value& value) {
  return std::visit([](const auto& one) { return OrderedJson(one); }, value);
}

/// Where a source stands: in the document, or in a file next to it.
struct Sources {
  bool inline_text;
  std::vector<std::pair<std::string, std::string>> files;

  OrderedJson place(const std::string& name, const std::string& text, bool named = false) {
    if (inline_text && named) return OrderedJson{{"name", name}, {"text", text}};
    if (inline_text) return OrderedJson{{"text", text}};
    const auto ready =
        detail::is_ready_file(name) ? detail::ready_words(text) : Result<std::vector<std::uint32_t>>(Fault{});
    files.emplace_back(name, ready ? detail::ready_bytes(*ready) : text);
    return name;
  }
};

OrderedJson tolerance_json(const Tolerance& tolerance) {
  OrderedJson json{{"absolute", tolerance.absolute}, {"relative", tolerance.relative}};
  if (tolerance.matched_ratio != 1) json["matched_ratio"] = tolerance.matched_ratio;
  if (tolerance.cap_absolute) json["error_cap"]["absolute"] = *tolerance.cap_absolute;
  if (tolerance.cap_relative) json["error_cap"]["relative"] = *tolerance.cap_relative;
  if (tolerance.infinities != Infinities::as_expected) json["infinities"] = to_string(tolerance.infinities);
  return json;
}

OrderedJson texts(const std::vector<Expression>& expressions) {
  OrderedJson json = OrderedJson::array();
  for (const Expression& expression : expressions) json.push_back(expression.text());
  return json;
}

OrderedJson tensor_map_json(const TensorMap& map) {
  OrderedJson json{{"array", map.array}, {"sizes", texts(map.sizes)}};
  if (!map.strides.empty()) json["strides"] = texts(map.strides);
  json["box"] = texts(map.box);
  if (map.swizzle) json["swizzle"] = map.swizzle->text();
  if (map.promotion) json["promotion"] = map.promotion->text();
  return json;
}

OrderedJson data_json(const std::vector<InputFile>& files) {
  if (files.size() == 1 && files.front().shape.empty()) return files.front().name;
  OrderedJson json = OrderedJson::object();
  for (const InputFile& file : files) json[file.shape] = file.name;
  return json;
}

OrderedJson argument_json(const Argument& argument) {
  OrderedJson json{{"name", argument.name}};
  if (argument.tensor_map) {
    json["tensor_map"] = tensor_map_json(*argument.tensor_map);
    return json;
  }
  if (argument.structure) {
    OrderedJson fields = OrderedJson::array();
    for (const StructField& field : argument.structure->fields) {
      const std::size_t bracket = field.name.find('[');
      const std::string name = field.name.substr(0, bracket);
      if (bracket != std::string::npos && !fields.empty() && fields.back()["name"] == name) {
        fields.back()["count"] = fields.back()["count"].get<int>() + 1;
        continue;
      }
      fields.push_back({{"name", name}, {"type", to_string(field.type)}});
      if (bracket != std::string::npos) fields.back()["count"] = 1;
      fields.back()["low"] = field.low;
      fields.back()["high"] = field.high;
    }
    json["type"] = {{"struct", argument.structure->name}, {"fields", std::move(fields)}};
  } else {
    json["type"] = argument.type_text();
  }
  if (argument.value) json["value"] = argument.value->text();
  if (!argument.is_array) return json;
  json["size"] = argument.size ? argument.size->text() : "1";
  json["role"] = to_string(argument.role);
  if (argument.quantised) {
    OrderedJson& made = json["quantised"] = {{"scale", argument.quantised->scale}};
    if (!argument.quantised->of.empty()) made["of"] = argument.quantised->of;
    if (argument.quantised->columns) made["columns"] = argument.quantised->columns->text();
    if (!argument.quantised->block.empty()) made["block"] = texts(argument.quantised->block);
  }
  const bool filled_by_another =
      !argument.scale_of.empty() || (argument.quantised && !argument.quantised->of.empty());
  if (argument.is_input() && !filled_by_another) {
    json["init"] = to_string(argument.initialisation);
    if (argument.initialisation == Initialisation::normal) {
      json["mean"] = argument.low;
      json["deviation"] = argument.high;
    } else if (!argument.structure &&
               (is_drawn(argument.initialisation) || argument.initialisation == Initialisation::sorted)) {
      json["low"] =
          argument.low_expression ? OrderedJson(argument.low_expression->text()) : OrderedJson(argument.low);
      json["high"] = argument.high_expression ? OrderedJson(argument.high_expression->text())
                                              : OrderedJson(argument.high);
    }
    if (argument.edge) json["edge"] = *argument.edge;
    if (!argument.exact.empty()) json["exact"] = argument.exact;
    if (argument.total) {
      json["total"] = argument.total->text();
      json["skew"] = argument.skew;
    }
    if (!argument.files.empty()) json["file"] = data_json(argument.files);
    if (!argument.files.empty() && !argument.files.front().tensor.empty())
      json["tensor"] = argument.files.front().tensor;
  }
  if (detail::is_unchecked(argument))
    json["check"] = false;
  else if (argument.tolerance)
    json["tolerance"] = tolerance_json(*argument.tolerance);
  if (!argument.symbol.empty()) json["symbol"] = argument.symbol;
  return json;
}

/// The space keeps each tunable's "if" as a constraint of its own; in the file it stands with the tunable.
bool is_condition(const Space& space, const Constraint& constraint) {
  for (const Tunable& tunable : space.tunables())
    if (tunable.active_if && constraint.text() == tunable.name + " is active if " + tunable.active_if->text())
      return true;
  return false;
}

void add_space(OrderedJson& json, const Space& space) {
  OrderedJson tunables = OrderedJson::object();
  OrderedJson defaults = OrderedJson::object();
  for (const Tunable& tunable : space.tunables()) {
    OrderedJson values = OrderedJson::array();
    for (const Value& value : tunable.values) values.push_back(to_json(value));
    if (!tunable.active_if && tunable.role == TunableRole::none) {
      tunables[tunable.name] = std::move(values);
      continue;
    }
    OrderedJson& entry = tunables[tunable.name];
    entry["values"] = std::move(values);
    if (tunable.active_if) entry["if"] = tunable.active_if->text();
    if (tunable.role != TunableRole::none) entry["role"] = to_string(tunable.role);
  }
  for (std::size_t i = 0; i < space.size(); ++i)
    defaults[space.tunable(i).name] = to_json(space.value(space.default_config(), i));
  OrderedJson constraints = OrderedJson::array();
  for (const Constraint& constraint : space.constraints()) {
    if (!constraint.expression() && is_condition(space, constraint)) continue;
    if (!constraint.expression())
      detail::raise<ConfigError>("a constraint cannot be written", constraint.text() + " is a C++ function",
                                 "write it as an expression");
    constraints.push_back(constraint.text());
  }
  json["tunables"] = std::move(tunables);
  json["constraints"] = std::move(constraints);
  json["default"] = std::move(defaults);
}

void add_geometry(OrderedJson& json, const LaunchGeometry& geometry) {
  json["grid"] = texts(geometry.grid);
  json["block"] = texts(geometry.block);
  if (!geometry.cluster.empty()) json["cluster"] = texts(geometry.cluster);
  if (geometry.shared_bytes) json["shared_bytes"] = geometry.shared_bytes->text();
  for (const LocalArray& one : geometry.local)
    json["local"].push_back(OrderedJson{{"name", one.name}, {"bytes", one.bytes.text()}});
}

OrderedJson step_json(const LaunchStep& step) {
  OrderedJson json = OrderedJson::object();
  if (!step.zero.empty()) {
    json["zero"] = step.zero;
  } else {
    json["function"] = step.function;
    if (!step.arguments.empty()) json["arguments"] = step.arguments;
    add_geometry(json, step.geometry);
  }
  if (step.condition) json["if"] = step.condition->text();
  return json;
}

OrderedJson generator_json(const GeneratedInputs& generator, Sources& sources) {
  OrderedJson json = OrderedJson::object();
  if (generator.matrix_market.empty()) {
    json["source"] = sources.place("inputs.cpp", generator.source);
    json["flags"] = generator.flags;
  } else {
    json["matrix_market"] = data_json(generator.matrix_market);
    if (!generator.row_pointers.empty()) json["row_pointers"] = generator.row_pointers;
    if (!generator.columns.empty()) json["columns"] = generator.columns;
    if (!generator.values.empty()) json["values"] = generator.values;
  }
  json["sizes"] = generator.sizes;
  return json;
}

OrderedJson hidden_shapes_json(const HiddenShapes& hidden) {
  if (!hidden.none.empty()) return {{"none", hidden.none}};
  OrderedJson json{{"count", hidden.count}, {"ranges", OrderedJson::object()}};
  for (const SizeRange& range : hidden.ranges) {
    OrderedJson& one = json["ranges"][range.name];
    one = {{"low", range.low}, {"high", range.high}};
    if (range.multiple_of != 1) one["multiple_of"] = range.multiple_of;
  }
  if (!hidden.where.empty()) json["where"] = texts(hidden.where);
  return json;
}

/// One launch of the problem's function is written as its geometry alone.
OrderedJson launch_json(const Problem& problem) {
  const LaunchStep& first = problem.launch.front();
  if (problem.launch.size() == 1 && first.function == problem.function && first.arguments.empty() &&
      !first.condition) {
    OrderedJson json = OrderedJson::object();
    add_geometry(json, first.geometry);
    return json;
  }
  OrderedJson json = OrderedJson::array();
  for (const LaunchStep& step : problem.launch) json.push_back(step_json(step));
  return json;
}

OrderedJson build_json(const HostBuild& build, Backend backend) {
  OrderedJson json = OrderedJson::object();
  // Beside a command that makes device code we compile nothing of the kernel.
  if (build.command.empty() || !is_device(backend)) {
    if (!build.compiler.empty()) json["compiler"] = build.compiler;
    json["flags"] = build.flags;
  }
  if (!build.libraries.empty()) json["libraries"] = build.libraries;
  if (!build.command.empty()) {
    json["command"] = build.command;
    for (const SourceFile& file : build.files) json["files"].push_back(file.path);
    if (!build.identity.empty()) json["identity"] = build.identity;
    if (!build.readable.empty()) json["readable"] = build.readable;
  }
  return json;
}

OrderedJson external_json(const ExternalProgram& program) {
  OrderedJson json{{"command", program.command}};
  for (const SourceFile& file : program.files) json["files"].push_back(file.path);
  if (!program.identity.empty()) json["identity"] = program.identity;
  if (!program.readable.empty()) json["readable"] = program.readable;
  if (program.devices) json["devices"] = true;
  json["time"] = to_string(program.clock);
  json["answer_seconds"] = program.answer_seconds;
  return json;
}

OrderedJson document(const Problem& problem, Sources& sources) {
  const std::string suffix(traits_of(problem.backend).extension);
  const Regions& regions = problem.kernel.regions;
  OrderedJson json{{"schema", 1}, {"name", problem.name}};
  if (!problem.description.empty()) json["description"] = problem.description;
  json["backend"] = to_string(problem.backend);
  json["function"] = problem.function;
  // What a build command makes of a source may depend on its name, as does the language of a shader.
  const bool shader = problem.backend == Backend::vulkan;
  const bool named =
      (!problem.build.command.empty() || problem.external || shader) && !problem.names.device.empty();
  json["kernel"] = {
      {"device", sources.place(named ? problem.names.device : "kernel" + suffix, regions.device, named)}};
  if (!regions.host.empty()) json["kernel"]["host"] = sources.place("host.cpp", regions.host);
  if (!regions.macros.empty()) json["kernel"]["macros"] = sources.place("macros.hpp", regions.macros);
  if (!problem.include.empty()) json["kernel"]["include"] = problem.include;
  if (!problem.sources.empty()) json["kernel"]["sources"] = problem.sources;
  json["arguments"] = OrderedJson::array();
  for (const Argument& argument : problem.arguments) json["arguments"].push_back(argument_json(argument));
  json["shapes"] = OrderedJson::array();
  for (const Shape& shape : problem.shapes) {
    OrderedJson one{{"name", shape.name}};
    for (const auto& [name, value] : shape.variables) one[name] = to_json(value);
    one["weight"] = shape.weight;
    json["shapes"].push_back(std::move(one));
  }
  if (problem.hidden_shapes) json["hidden_shapes"] = hidden_shapes_json(*problem.hidden_shapes);
  if (!problem.objectives.only_time()) {
    json["objectives"] = OrderedJson::array();
    for (const Objective& row : problem.objectives.rows())
      json["objectives"].push_back(Objectives::text_of(row));
  }
  if (!problem.trivial_answers.empty()) json["trivial_answers"] = problem.trivial_answers;
  if (problem.generator) json["generator"] = generator_json(*problem.generator, sources);
  if (problem.valid) json["valid"] = problem.valid->text();
  add_space(json, problem.kernel.space);
  if (problem.external && problem.reference.compiler == "python") {
    json["reference"] = {{"python", sources.place("model.py", problem.reference.source)},
                         {"function", problem.reference.function}};
    if (!problem.reference.flags.empty()) json["reference"]["flags"] = problem.reference.flags;
  } else if (has_command_reference(problem)) {
    json["reference"] = {{"commands", sources.place("kernelsearch_task.json", problem.reference.source)}};
  } else if (!problem.reference.source.empty()) {
    const bool own = shader && !problem.names.reference.empty();
    const std::string file =
        own ? problem.names.reference : "reference" + (problem.external ? std::string(".cpp") : suffix);
    json["reference"] = {{"source", sources.place(file, problem.reference.source, own)},
                         {"function", problem.reference.function},
                         {"flags", problem.reference.flags}};
    if (!problem.reference.compiler.empty()) json["reference"]["compiler"] = problem.reference.compiler;
    if (!problem.reference.sources.empty()) json["reference"]["sources"] = problem.reference.sources;
    if (!problem.reference.libraries.empty()) json["reference"]["libraries"] = problem.reference.libraries;
    if (problem.reference.launch) add_geometry(json["reference"]["launch"], *problem.reference.launch);
  }
  if (problem.external)
    json["external"] = external_json(*problem.external);
  else
    json["build"] = build_json(problem.build, problem.backend);
  if (!problem.launch.empty()) json["launch"] = launch_json(problem);
  for (const auto& [type, tolerance] : problem.tolerances)
    json["tolerances"][std::string(to_string(type))] = tolerance_json(tolerance);
  json["aggregate"] = to_string(problem.aggregate);
  json["threads"] = problem.threads;
  if (problem.operations) json["operations"] = problem.operations->text();
  if (problem.bytes) json["bytes"] = problem.bytes->text();
  if (problem.bit_exact) json["bit_exact"] = true;
  if (problem.memory) json["memory_gib"] = static_cast<double>(*problem.memory) / 0x1p30;
  if (problem.libraries && problem.libraries->empty())
    json["libraries"] = "none";
  else if (problem.libraries)
    json["libraries"] = *problem.libraries;
  if (problem.over_read_bytes != 0) json["over_read_bytes"] = problem.over_read_bytes;
  std::vector<SourceFile> files = problem.files;
  for (const SourceFile& file : problem.external ? problem.external->files : problem.build.files)
    if (std::find(files.begin(), files.end(), file) == files.end()) files.push_back(file);
  for (const SourceFile& file : files) {
    if (sources.inline_text)
      json["files"][file.path] = {{"text", file.text}};
    else
      sources.files.emplace_back(file.path, file.text);
  }
  if (!problem.traits.empty()) json["traits"] = problem.traits;
  return json;
}

std::string dumped(const OrderedJson& json) {
  try {
    return json.dump(2) + '\n';
  } catch (const OrderedJson::exception&) {
    detail::raise<ConfigError>("the problem cannot be written as JSON", "a text in it is not UTF-8",
                               "save the sources as UTF-8");
  }
}

}  // namespace

std::string problem_json(const Problem& problem) {
  Sources sources{true, {}};
  return dumped(document(problem, sources));
}

void write_problem(const Problem& problem, const std::filesystem::path& folder) {
  Sources sources{false, {}};
  std::string text = dumped(document(problem, sources));
  sources.files.emplace_back("problem.json", std::move(text));
  detail::write_files(folder, sources.files);
}

}  // namespace kernelsearch
