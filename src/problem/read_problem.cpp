// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/problem/read_problem.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <limits>
#include <system_error>

#include "kernelsearch/core/nearest.hpp"
#include "kernelsearch/problem/evaluate.hpp"
#include "kernelsearch/problem/inputs.hpp"
#include "problem_parts.hpp"

namespace kernelsearch {
namespace detail {
namespace {

void read_kernel(const JsonCursor& place, const std::filesystem::path& folder, Regions& regions) {
  constexpr const char* todo = "write {\"device\": \"kernel.cpp\"}";
  place.only({"device", "host", "macros"});
  regions.device = read_source(place.at("device", todo), folder);
  if (const auto host = place.find("host")) regions.host = read_source(*host, folder);
  if (const auto macros = place.find("macros")) regions.macros = read_source(*macros, folder);
  if (regions.device.find_first_not_of(" \t\r\n") == std::string::npos)
    place.at("device", todo).refuse("is an empty source", "write the kernel into it");
}

/// Every ${NAME} in a compiler or flag names a tunable.
void check_substitutions(const JsonCursor& place, const std::string& text,
                         std::span<const std::string> tunables) {
  for (std::size_t at = text.find("${"); at != std::string::npos; at = text.find("${", at + 2)) {
    const std::size_t end = text.find('}', at);
    if (end == std::string::npos) place.refuse("opens ${ without closing it", "write ${NAME}");
    const std::string name = text.substr(at + 2, end - at - 2);
    if (std::find(tunables.begin(), tunables.end(), name) != tunables.end()) continue;
    const std::string nearest = nearest_name(name, tunables);
    place.refuse("names an unknown tunable",
                 nearest.empty() ? "declare it under \"tunables\"" : "did you mean ${" + nearest + "}?");
  }
}

std::vector<std::string> read_flags(const JsonCursor& place, std::span<const std::string> tunables) {
  std::vector<std::string> flags;
  for (const JsonCursor& item : place.items("list the compiler's flags, e.g. [\"-O3\"]")) {
    flags.push_back(item.string("a flag is a string"));
    check_substitutions(item, flags.back(), tunables);
  }
  return flags;
}

void read_build(const JsonCursor& place, std::span<const std::string> tunables, HostBuild& build) {
  place.only({"compiler", "flags"});
  if (const auto compiler = place.find("compiler")) {
    build.compiler = compiler->string("name a compiler, e.g. \"g++\"");
    if (build.compiler.empty()) compiler->refuse("names no compiler", "name one, e.g. \"g++\"");
    check_substitutions(*compiler, build.compiler, tunables);
  }
  if (const auto flags = place.find("flags")) build.flags = read_flags(*flags, tunables);
}

Reference read_reference(const JsonCursor& place, const std::filesystem::path& folder) {
  constexpr const char* todo = "write {\"source\": \"reference.cpp\", \"function\": \"name\"}";
  place.only({"source", "function", "flags"});
  Reference reference;
  const JsonCursor source = place.at("source", todo);
  reference.source = read_source(source, folder);
  if (reference.source.find_first_not_of(" \t\r\n") == std::string::npos)
    source.refuse("is an empty source", "write the reference into it");
  const JsonCursor function = place.at("function", todo);
  reference.function = function.string(todo);
  check_name(function, reference.function, "a function");
  if (const auto flags = place.find("flags")) reference.flags = read_flags(*flags, {});
  return reference;
}

std::vector<Expression> read_extent(const JsonCursor& place, std::span<const std::string> known) {
  constexpr const char* todo = "list one to three expressions, e.g. [\"(n + BLOCK - 1) // BLOCK\"]";
  std::vector<Expression> extent;
  for (const JsonCursor& item : place.items(todo))
    extent.push_back(read_expression(item, known, "shape variables and tunables"));
  if (extent.empty() || extent.size() > 3) place.refuse("is no extent", todo);
  return extent;
}

LaunchGeometry read_launch(const JsonCursor& place, std::span<const std::string> known) {
  constexpr const char* todo = "write {\"grid\": [\"...\"], \"block\": [\"...\"]}";
  place.only({"grid", "block", "cluster", "shared_bytes"});
  LaunchGeometry launch;
  launch.grid = read_extent(place.at("grid", todo), known);
  launch.block = read_extent(place.at("block", todo), known);
  if (const auto cluster = place.find("cluster")) launch.cluster = read_extent(*cluster, known);
  if (const auto bytes = place.find("shared_bytes"))
    launch.shared_bytes = read_expression(*bytes, known, "shape variables and tunables");
  return launch;
}

/// A whole number >= `least`, for one shape and the default configuration.
void check_whole(const JsonCursor& place, const Expression& expression, const Shape& shape,
                 std::span<const NamedValue> tunables, double least) {
  const Value value = located(place, "cannot be evaluated for shape \"" + shape.name + '"',
                              [&] { return evaluate(expression, shape.variables, tunables); });
  const double number = to_number(value);
  if (value.index() > 2 || number != std::floor(number) || number < least)
    place.refuse("is wrong for shape \"" + shape.name + '"', expression.text() + " is " + to_string(value),
                 "it must be a whole number >= " + to_string(Value{static_cast<std::int64_t>(least)}) +
                     "; // divides and rounds down");
}

/// What is declared per shape holds for every shape at the default configuration.
void check_shapes(const JsonCursor& document, const Problem& problem) {
  const auto tunables = named_values(problem.kernel.space, problem.kernel.space.default_config());
  const std::vector<JsonCursor> places = document.at("arguments", "").items("");
  bool any_valid = false;
  for (const Shape& shape : problem.shapes) {
    for (std::size_t i = 0; i < problem.arguments.size(); ++i) {
      const Argument& argument = problem.arguments[i];
      located(places[i], "is wrong", [&] {
        if (!argument.is_array) {
          (void)scalar_value(argument, shape);
          return;
        }
        const std::size_t count = element_count(argument, shape, tunables);
        if (argument.role != Role::out && argument.initialisation == Initialisation::permutation &&
            count > static_cast<std::size_t>(largest_exact_integer(argument.type)) + 1)
          raise<ConfigError>("argument " + argument.name + " cannot hold a permutation",
                             std::to_string(count) + " elements in shape " + shape.name, "use a wider type");
        Rng rng;
        std::byte element[8];
        if (argument.role != Role::out && count > 0) fill_input(argument, 1, rng, element);
      });
    }
    for (const char* key : {"operations", "bytes"}) {
      const auto place = document.find(key);
      if (!place) continue;
      const Expression& expression = *key == 'o' ? *problem.operations : *problem.bytes;
      const Value value = located(*place, "cannot be evaluated for shape \"" + shape.name + '"',
                                  [&] { return evaluate(expression, shape.variables); });
      if (value.index() > 2 || !(to_number(value) >= 0))
        place->refuse("is no count for shape \"" + shape.name + '"',
                      expression.text() + " is " + to_string(value), "it must be a number >= 0");
    }
    if (problem.valid) {
      const JsonCursor place = document.at("valid", "");
      const Value value = located(place, "cannot be evaluated for shape \"" + shape.name + '"',
                                  [&] { return evaluate(*problem.valid, shape.variables, tunables); });
      if (!is_true(value)) continue;
    }
    any_valid = true;
    if (const auto launch = document.find("launch")) {
      const auto extents = {std::make_pair("grid", &problem.launch.grid),
                            std::make_pair("block", &problem.launch.block),
                            std::make_pair("cluster", &problem.launch.cluster)};
      for (const auto& [key, extent] : extents) {
        if (extent->empty()) continue;
        const std::vector<JsonCursor> items = launch->at(key, "").items("");
        for (std::size_t i = 0; i < extent->size(); ++i)
          check_whole(items[i], (*extent)[i], shape, tunables, 1);
      }
      if (problem.launch.shared_bytes)
        check_whole(launch->at("shared_bytes", ""), *problem.launch.shared_bytes, shape, tunables, 0);
    }
  }
  if (!any_valid)
    document.at("valid", "")
        .refuse("rejects the default configuration for every shape",
                "change the predicate, the shapes or the default");
}

Problem read_document(const JsonCursor& document, const std::filesystem::path& folder) {
  document.only({"schema", "name",       "description", "backend",     "function",   "kernel",    "arguments",
                 "shapes", "valid",      "tunables",    "constraints", "default",    "reference", "build",
                 "launch", "tolerances", "aggregate",   "threads",     "operations", "bytes"});
  const JsonCursor schema = document.at("schema", "this version of the format is \"schema\": 1");
  if (schema.integer("this version of the format is 1") != 1)
    schema.refuse("is a version of the format that is not known", "this program reads version 1");

  Space space = read_space(document);
  std::vector<std::string> tunables;
  for (const Tunable& tunable : space.tunables()) tunables.push_back(tunable.name);
  Problem problem;
  problem.kernel.space = std::move(space);
  problem.folder = folder;

  const JsonCursor name = document.at("name", "name the problem, e.g. \"matmul\"");
  problem.name = name.string("name the problem, e.g. \"matmul\"");
  if (problem.name.empty()) name.refuse("is empty", "name the problem, e.g. \"matmul\"");
  if (const auto text = document.find("description"))
    problem.description = text->string("describe it in a sentence");
  if (const auto backend = document.find("backend")) {
    constexpr std::string_view names[] = {"host", "cuda", "hip", "opencl"};
    problem.backend = names[backend->choice("backend", {"host", "cuda", "hip", "opencl"})];
  }
  const JsonCursor function = document.at("function", "name the kernel's function");
  problem.function = function.string("name the kernel's function");
  check_name(function, problem.function, "a function");
  read_kernel(document.at("kernel", "write {\"device\": \"kernel.cpp\"}"), folder, problem.kernel.regions);

  const JsonCursor shapes =
      document.at("shapes", "list at least one, e.g. [{\"name\": \"large\", \"n\": 1048576}]");
  problem.shapes = read_shapes(shapes);
  std::vector<std::string> variables;
  for (const NamedValue& variable : problem.shapes.front().variables) variables.push_back(variable.first);
  for (const std::string& tunable : tunables) {
    const char* clash = tunable == problem.function ? "the function" : nullptr;
    if (std::find(variables.begin(), variables.end(), tunable) != variables.end()) clash = "a shape variable";
    if (clash != nullptr)
      document.at("tunables", "")
          .at(tunable, "")
          .refuse("is called like " + std::string(clash), tunable, "rename one of them");
  }
  problem.arguments = read_arguments(
      document.at("arguments", "list the parameters of the function in their order"), variables, tunables);

  std::vector<std::string> both = variables;
  both.insert(both.end(), tunables.begin(), tunables.end());
  if (const auto valid = document.find("valid"))
    problem.valid = read_expression(*valid, both, "shape variables and tunables");
  if (const auto place = document.find("tolerances")) problem.tolerances = read_tolerances(*place);
  if (const auto place = document.find("reference")) problem.reference = read_reference(*place, folder);
  if (problem.backend != "host") problem.build = {{}, {}};
  if (const auto build = document.find("build")) read_build(*build, tunables, problem.build);
  const auto launch = document.find("launch");
  if (launch && problem.backend == "host")
    launch->refuse("sizes the launch of a device kernel, which host kernels have not", "", "remove it");
  if (!launch && problem.backend != "host")
    document.refuse("lacks the key \"launch\"", "backend " + problem.backend,
                    "write {\"grid\": [\"...\"], \"block\": [\"...\"]}");
  if (launch) problem.launch = read_launch(*launch, both);
  if (const auto place = document.find("aggregate"))
    problem.aggregate =
        static_cast<Aggregate>(place->choice("aggregate", {"reference_weighted", "geometric_mean"}));
  if (const auto threads = document.find("threads")) {
    const std::int64_t count = threads->integer("give the number of threads that the kernel may use");
    if (count < 1 || count > 4096)
      threads->refuse("is no number from 1 to 4096", "give the number of threads that the kernel may use");
    problem.threads = static_cast<int>(count);
  }
  if (const auto place = document.find("operations"))
    problem.operations = read_expression(*place, variables, "shape variables");
  if (const auto place = document.find("bytes"))
    problem.bytes = read_expression(*place, variables, "shape variables");
  check_shapes(document, problem);
  return problem;
}

}  // namespace
}  // namespace detail

Problem parse_problem(std::string_view text, const std::filesystem::path& folder) {
  const std::string file = "problem.json";
  const detail::JsonNode root = detail::parse_json(text, file);
  return detail::read_document({root, file}, folder);
}

Problem read_problem(const std::filesystem::path& folder_or_file) {
  namespace fs = std::filesystem;
  std::error_code error;
  const bool is_folder = fs::is_directory(folder_or_file, error);
  const fs::path path = is_folder ? folder_or_file / "problem.json" : folder_or_file;
  if (!fs::is_regular_file(path, error))
    detail::raise<ConfigError>("no problem is there", path.string(),
                               "name a folder with a problem.json; `kernelsearch new NAME` makes one");
  constexpr std::uintmax_t most = 16 << 20;
  if (fs::file_size(path, error) > most || error)
    detail::raise<ConfigError>("the problem file is over 16 MiB", path.string(), "name a problem.json");
  std::ifstream file(path, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (!file)
    detail::raise<ConfigError>("the problem file cannot be read", path.string(), "check its permissions");
  const std::string name = path.string();
  const detail::JsonNode root = detail::parse_json(text, name);
  const fs::path folder = path.parent_path();
  return detail::read_document({root, name}, folder.empty() ? fs::path(".") : folder);
}

}  // namespace kernelsearch
