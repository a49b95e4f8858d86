// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "list_transformations.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "kernelsearch/agents/data_files.hpp"
#include "kernelsearch/agents/named_workflow.hpp"
#include "kernelsearch/agents/transformation_library.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/problem/read_problem.hpp"
#include "kernelsearch/problem/traits.hpp"
#include "terminal.hpp"

namespace kernelsearch::app {
namespace {

using Json = nlohmann::ordered_json;

std::string listed_names(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ",") + name;
  return text.empty() ? "-" : text;
}

std::vector<std::string> tunables_of(const Transformation& transformation) {
  std::vector<std::string> names;
  for (const Tunable& tunable : transformation.tunables.tunables) names.push_back(tunable.name);
  return names;
}

/// Whether a hand-written application of it was measured (data/transformations/proofs).
bool is_proved(const std::string& name, const std::string& folder) {
  for (const DataFile& file : data_files("transformations/proofs/" + name, folder))
    if (file.name == "proof.json") return true;
  return false;
}

/// What is listed for no problem: one that has every trait.
Features all_traits() {
  Features features;
  for (const std::string_view trait : known_traits) features.set("trait." + std::string(trait), 1);
  return features;
}

}  // namespace

void list_transformations(const ListTransformations& options) {
  const TransformationLibrary library(options.folder);
  WorkflowSubject subject{options.backend.empty() ? "cuda" : options.backend, all_traits()};
  if (!options.problem.empty()) {
    const Problem problem = read_problem(options.problem);
    if (!options.backend.empty() && options.backend != to_string(problem.backend))
      detail::raise<ConfigError>("the problem is of another backend", std::string(to_string(problem.backend)),
                                 "leave out --backend");
    subject = {std::string(to_string(problem.backend)), trait_features(problem)};
  }
  const WorkflowOptions plan = planned_workflow({}, library, subject, read_workflows(options.folder));
  const auto axis = std::find_if(all_axes.begin(), all_axes.end(),
                                 [&](Axis one) { return to_string(one) == options.short_of; });
  Json array = Json::array();
  if (!options.json)
    print_clean("{:>5}  {:<26} {:<22} {:<28} {:<6} {:<7} {}\n", "place", "transformation", "traits", "after",
                "calls", "proved", "tunables");
  std::size_t place = 0;
  for (const std::string& name : plan.orders[static_cast<std::size_t>(*axis)]) {
    const Transformation& one = library.at(name);
    const auto after = plan.after.find(name);
    const std::vector<std::string> before =
        after == plan.after.end() ? std::vector<std::string>() : after->second;
    const bool proved = is_proved(name, options.folder);
    ++place;
    if (options.json)
      array.push_back({{"place", place},
                       {"name", name},
                       {"title", one.title},
                       {"description", one.description},
                       {"source", one.source},
                       {"traits", traits_of(one)},
                       {"backends", one.backends},
                       {"after", before},
                       {"tunables", tunables_of(one)},
                       {"constraints", one.tunables.constraints},
                       {"calls", one.calls()},
                       {"proved", proved}});
    else
      print_clean("{:>5}  {:<26} {:<22} {:<28} {:<6} {:<7} {}\n", place, name, listed_names(traits_of(one)),
                  listed_names(before), one.calls(), proved ? "yes" : "no", listed_names(tunables_of(one)));
  }
  if (options.json) print_json(array);
}

void list_workflows(const std::string& folder, bool json) {
  Json array = Json::array();
  for (const NamedWorkflow& one : read_workflows(folder)) {
    const std::string short_of = one.short_of ? std::string(to_string(*one.short_of)) : "";
    if (json) {
      Json entry{{"name", one.name},
                 {"description", one.description},
                 {"source", one.source},
                 {"order", to_string(one.order)},
                 {"backends", one.backends},
                 {"traits", one.traits},
                 {"transformations", one.transformations}};
      if (one.short_of) entry["short_of"] = short_of;
      array.push_back(std::move(entry));
      continue;
    }
    print_clean("{:<22} {:<10} {:<22} {}\n", one.name, listed_names(one.backends), listed_names(one.traits),
                one.short_of ? "standard order of kernels short of " + short_of : one.source);
    print_clean("{:<22} {}\n", "", listed_names(one.transformations));
  }
  if (json) print_json(array);
}

}  // namespace kernelsearch::app
