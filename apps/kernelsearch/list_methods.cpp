// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "list_methods.hpp"

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <vector>

#include "kernelsearch/agents/method_registry.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/core/whole_file.hpp"
#include "kernelsearch/policy/method_choice.hpp"
#include "kernelsearch/problem/read_problem.hpp"
#include "kernelsearch/problem/text_features.hpp"
#include "kernelsearch/problem/traits.hpp"
#include "terminal.hpp"

namespace kernelsearch::app {
namespace {

using Json = nlohmann::ordered_json;

/// An object of numbers, or one that has such an object under `features` or `counters`, as `profile --json`
/// prints it.
Features read_features(const std::string& path) {
  const std::optional<std::string> text = try_whole_file(path);
  if (!text) detail::raise<ConfigError>("the file of features cannot be read", path, "name a JSON file");
  Json json = Json::parse(*text, nullptr, false);
  for (const char* key : {"counters", "features"})
    if (json.is_object() && json.contains(key)) json = Json(json[key]);
  if (!json.is_object())
    detail::raise<ConfigError>("the file holds no features", path, "write a JSON object of numbers");
  Features features;
  for (const auto& [name, value] : json.items())
    if (value.is_number()) features.set(name, value.get<double>());
  return features;
}

Json changes_json(const std::vector<CodeChange>& changes) {
  Json array = Json::array();
  for (const CodeChange& change : changes) {
    Json& json = array.emplace_back(Json{{change.less ? "fewer" : "more", change.feature}});
    if (change.by > 0) json["by"] = change.by;
  }
  return array;
}

Json method_json(const Method& method) {
  Json json{{"id", method.id},
            {"name", method.name},
            {"axis", to_string(method.axis)},
            {"priority", method.priority},
            {"description", method.description},
            {"architecture", method.architecture},
            {"needs", method.needs}};
  if (method.trigger) json["trigger"] = method.trigger->text();
  if (method.skip) json["skip"] = method.skip->text();
  if (method.strength) json["strength"] = method.strength->text();
  json["coupled"] = method.coupled;
  json["excludes"] = method.excludes;
  json["signature"] = {{"any", changes_json(method.signature.any)},
                       {"all", changes_json(method.signature.all)}};
  if (!method.no_trace.empty()) json["no_trace"] = method.no_trace;
  return json;
}

void print_methods(const std::vector<Method>& methods, bool as_json) {
  Json array = Json::array();
  for (const Method& method : methods) {
    if (as_json) {
      array.push_back(method_json(method));
      continue;
    }
    const std::string device = method.architecture > 0 ? fmt::format("sm_{}", method.architecture) : "any";
    print_clean("{:<48} {:>3}  {:<7} {}\n", method.id, method.priority, device,
                method.trigger ? method.trigger->text() : "always");
  }
  if (as_json) print_json(array);
}

void print_choice(const std::vector<Method>& methods, const MethodChoice& choice, bool as_json) {
  Json array = Json::array();
  for (const MethodDecision& decision : choice.decisions) {
    const Method& method = methods[decision.method];
    if (!as_json) {
      print_clean("{:<48} {:<17} {}\n", method.id, to_string(decision.reason), decision.words);
      continue;
    }
    Json json{{"id", method.id},
              {"axis", to_string(method.axis)},
              {"priority", method.priority},
              {"reason", to_string(decision.reason)},
              {"words", decision.words}};
    if (decision.strength) json["strength"] = *decision.strength;
    array.push_back(std::move(json));
  }
  if (as_json) print_json(array);
}

}  // namespace

void list_methods(const ListMethods& options) {
  const std::vector<Method> methods = read_methods(options.backend, options.folder);
  if (options.features.empty()) {
    if (options.architecture > 0 || !options.problem.empty())
      detail::raise<ConfigError>("methods are decided by features", "there are none",
                                 "name a file of them with --features");
    return print_methods(methods, options.json);
  }
  Features features = read_features(options.features);
  MethodDevice device{options.architecture, {}};
  if (!options.problem.empty()) {
    const Problem problem = read_problem(options.problem);
    for (const auto& [name, value] : trait_features(problem)) features.set(name, value);
    for (const auto& [name, value] : text_features(problem, problem.kernel)) features.set(name, value);
    if (is_device(problem.backend) && problem.launch.empty()) device.features.emplace_back("host_launch");
  }
  const AxisBudget budget{{options.slots, options.slots, options.slots}};
  print_choice(methods, choose_methods(methods, features, device, budget), options.json);
}

}  // namespace kernelsearch::app
