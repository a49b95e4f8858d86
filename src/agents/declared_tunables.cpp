// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/agents/declared_tunables.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <variant>

#include "agents/read_declared.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/problem/kernel_launch.hpp"
#include "problem/json_cursor.hpp"
#include "problem/problem_parts.hpp"

namespace kernelsearch {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view mark = "//@tunables ";

bool is_declaring(std::string_view line) {
  return line.starts_with(mark) || line.starts_with(launch_mark);
}

bool is_macro_name(const std::string& name) {
  return !name.empty() && name.front() >= 'A' && name.front() <= 'Z' && detail::is_name(name) &&
         std::none_of(name.begin(), name.end(), [](char c) { return c >= 'a' && c <= 'z'; });
}

/// A value as it is in JSON; a list is an order.
Value read_value(const detail::JsonCursor& place) {
  constexpr const char* form = "give a value of the tunable";
  if (place.kind() != detail::JsonNode::Kind::array) return place.value(form);
  Permutation order;
  for (const detail::JsonCursor& item : place.items(form)) order.push_back(item.integer(form));
  return order;
}

Tunable read_tunable(const detail::JsonCursor& place, const std::string& name, std::size_t most) {
  if (!is_macro_name(name))
    place.refuse("is not a name for a tunable", '"' + name + '"', "use capitals, digits and _, e.g. TILE_K");
  std::vector<Value> values = detail::read_values(place);
  if (values.empty()) place.refuse("has no value", "list at least one");
  if (values.size() > most)
    place.refuse("has too many values", std::to_string(values.size()),
                 "give at most " + std::to_string(most));
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i].index() != values.front().index())
      place.refuse("mixes kinds of values", "all values of a tunable are of one kind");
    if (std::find(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(i), values[i]) !=
        values.begin() + static_cast<std::ptrdiff_t>(i))
      place.refuse("lists a value twice", to_string(values[i]), "list each value once");
    if (std::holds_alternative<std::string>(values[i]))
      for (const char c : std::get<std::string>(values[i]))
        if (static_cast<unsigned char>(c) < 32)
          place.refuse("holds a control character", "values are one line");
  }
  Tunable tunable = Tunable::of(name, std::move(values));
  if (place.kind() == detail::JsonNode::Kind::object)
    if (const auto given = place.find("default")) {
      const auto at = tunable.position(read_value(*given));
      if (!at) given->refuse("is not one of the values", "give one of them");
      tunable.default_index = *at;
    }
  if (place.kind() == detail::JsonNode::Kind::object)
    if (const auto condition = place.find("if")) {
      std::string error;
      const std::string& text = condition->string("write an expression over the other tunables");
      tunable.active_if = Expression::try_parse(text, error);
      if (!tunable.active_if) condition->refuse("is not an expression", error, "write e.g. \"TILE_K > 1\"");
    }
  return tunable;
}

Json json_of(const Value& value) {
  return std::visit([](const auto& held) { return Json(held); }, value);
}

/// A space keeps a tunable's condition as a constraint, which building it again adds by itself.
bool is_condition(const Space& space, const Constraint& constraint) {
  return !constraint.expression() &&
         std::any_of(space.tunables().begin(), space.tunables().end(), [&](const Tunable& tunable) {
           return tunable.active_if &&
                  constraint.text() == tunable.name + " is active if " + tunable.active_if->text();
         });
}

/// Calls `f(line)` for each line, without its end.
template <class F>
void for_each_line(std::string_view text, F f) {
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    f(text.substr(0, end));
    text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
  }
}

}  // namespace

DeclaredTunables detail::read_declared(const detail::JsonCursor& document,
                                       const DeclaredTunablesLimits& limits) {
  constexpr const char* form = "write {\"tunables\": {\"NAME\": [values]}, \"constraints\": [\"...\"]}";
  DeclaredTunables declared;
  if (const auto section = document.find("tunables"))
    for (const auto& [name, member] : section->members(form))
      declared.tunables.push_back(read_tunable(member, name, limits.values));
  if (const auto section = document.find("constraints"))
    for (const detail::JsonCursor& item : section->items(form)) {
      declared.constraints.push_back(item.string(form));
      std::string error;
      if (!Expression::try_parse(declared.constraints.back(), error))
        item.refuse("is not an expression", error, "write e.g. \"TILE_K <= 32\"");
    }
  if (const auto section = document.find("default"))
    for (const auto& [name, member] : section->members("write {\"NAME\": value, ...}"))
      declared.defaults.emplace_back(name, read_value(member));
  if (declared.tunables.size() > limits.tunables)
    document.refuse("declares too many tunables", std::to_string(declared.tunables.size()),
                    "at most " + std::to_string(limits.tunables));
  if (declared.constraints.size() > limits.constraints)
    document.refuse("declares too many constraints", std::to_string(declared.constraints.size()),
                    "at most " + std::to_string(limits.constraints));
  return declared;
}

DeclaredTunables read_declared_tunables(std::string_view json, const std::string& source,
                                        DeclaredTunablesLimits limits) {
  const detail::JsonNode root = detail::parse_json(json, source);
  const detail::JsonCursor document(root, source);
  (void)document.members("write {\"tunables\": {\"NAME\": [values]}, \"constraints\": [\"...\"]}");
  document.only({"tunables", "constraints", "default"});
  return detail::read_declared(document, limits);
}

Kernel kernel_with_declared(const Space& base, Regions regions, DeclaredTunablesLimits limits) {
  std::vector<Tunable> tunables(base.tunables().begin(), base.tunables().end());
  std::vector<Constraint> constraints;
  for (const Constraint& constraint : base.constraints())
    if (!is_condition(base, constraint)) constraints.push_back(constraint);  // building adds those again
  DeclaredTunables declared = declarations_of(regions.macros, limits);
  if (declared.empty()) return {std::move(regions), base};
  for (Tunable& tunable : declared.tunables) {
    const auto known = std::find_if(tunables.begin(), tunables.end(),
                                    [&](const Tunable& one) { return one.name == tunable.name; });
    if (known == tunables.end() || !limits.replace) {
      tunables.push_back(std::move(tunable));
      continue;
    }
    if (!tunable.active_if) tunable.active_if = known->active_if;
    *known = std::move(tunable);
  }
  for (const std::string& constraint : declared.constraints)
    if (std::none_of(constraints.begin(), constraints.end(),
                     [&](const Constraint& one) { return one.text() == constraint; }))
      constraints.emplace_back(constraint);
  for (const auto& [name, value] : declared.defaults)
    for (Tunable& tunable : tunables)
      if (tunable.name == name)
        tunable.default_index = tunable.position(value).value_or(tunable.default_index);
  return {std::move(regions),
          Space::build(std::move(tunables), std::move(constraints), {.max_states = limits.max_states})};
}

DeclaredTunables declarations_of(std::string_view macros, DeclaredTunablesLimits limits) {
  DeclaredTunables all;
  for_each_line(macros, [&](std::string_view line) {
    if (line.substr(0, mark.size()) != mark) return;
    DeclaredTunables declared = read_declared_tunables(line.substr(mark.size()), "//@tunables", limits);
    for (Tunable& tunable : declared.tunables) all.tunables.push_back(std::move(tunable));
    for (std::string& constraint : declared.constraints) all.constraints.push_back(std::move(constraint));
    for (auto& entry : declared.defaults) all.defaults.push_back(std::move(entry));
  });
  return all;
}

std::string declaration_line(const DeclaredTunables& declared) {
  if (declared.empty()) return {};
  Json object = Json::object();
  for (const Tunable& tunable : declared.tunables) {
    Json values = Json::array();
    for (const Value& value : tunable.values) values.push_back(json_of(value));
    Json& one = object["tunables"][tunable.name];
    one = {{"values", std::move(values)}, {"default", json_of(tunable.values[tunable.default_index])}};
    if (tunable.active_if) one["if"] = tunable.active_if->text();
  }
  if (!declared.constraints.empty()) object["constraints"] = declared.constraints;
  for (const auto& [name, value] : declared.defaults) object["default"][name] = json_of(value);
  return std::string(mark) + object.dump(-1, ' ', false, Json::error_handler_t::replace) + '\n';
}

std::string declaring_lines(std::string_view macros) {
  std::string lines;
  for_each_line(macros, [&](std::string_view line) {
    if (is_declaring(line)) (lines += line) += '\n';
  });
  return lines;
}

std::string without_declaring_lines(std::string_view macros) {
  std::string rest;
  for_each_line(macros, [&](std::string_view line) {
    if (!is_declaring(line)) (rest += line) += '\n';
  });
  return rest;
}

std::string without_declarations(std::string_view macros) {
  std::string rest;
  for_each_line(macros, [&](std::string_view line) {
    if (line.substr(0, mark.size()) != mark) (rest += line) += '\n';
  });
  return rest;
}

}  // namespace kernelsearch
