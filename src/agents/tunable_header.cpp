// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/agents/tunable_header.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/generator/marked_loops.hpp"
#include "problem/problem_parts.hpp"

namespace kernelsearch {
namespace {

constexpr std::size_t most_tunables = 16;
constexpr std::size_t most_values = 64;
constexpr std::size_t most_states = 200'000;  // of building: a model's slip must not cost minutes

/// The reason without the parts that concern files.
std::string plain(const ConfigError& error) {
  std::string_view text = error.what();
  for (const std::string_view prefix : {"kernelsearch: ", "tunables:"})
    if (text.starts_with(prefix)) text.remove_prefix(prefix.size());
  return "The declaration of tunables cannot be used: line " + std::string(text);
}

}  // namespace

DeclaredSpace declare_tunables(const Space& space, std::string_view json, const Regions& code) {
  const auto fault = [](std::string detail) {
    return DeclaredSpace{{ReplyFault::bad_tunables, std::move(detail)}, std::nullopt};
  };
  try {
    const std::string file = "tunables";
    const detail::JsonNode node = detail::parse_json(json, file);
    const detail::JsonCursor document(node, file);
    (void)document.members("write {\"tunables\": {...}}");
    document.only({"tunables", "constraints", "default"});
    const auto section = document.at("tunables", "write {\"tunables\": {\"NAME\": {\"values\": [...]}}}");
    const auto members = section.members("write {\"NAME\": {\"values\": [...]}}");
    if (members.size() > most_tunables)
      return fault("At most 16 tunables may be declared at once; there are " +
                   std::to_string(members.size()) + '.');
    std::vector<Tunable> tunables(space.tunables().begin(), space.tunables().end());
    std::vector<Constraint> constraints(space.constraints().begin(), space.constraints().end());
    // Conditions and constraints may name tunables that the kernel has already, so only the lists are read
    // here.
    for (const auto& [name, place] : members) {
      detail::check_name(place, name, "a tunable");
      std::vector<Value> values = detail::read_values(place);
      if (values.empty()) place.refuse("has no value", "list at least one");
      if (values.size() > most_values)
        return fault(name + " has " + std::to_string(values.size()) + " values; at most 64 are useful.");
      for (const Value& value : values)
        if (value.index() != values.front().index()) place.refuse("mixes kinds of values", "use one kind");
      Tunable tunable = Tunable::of(name, std::move(values));
      if (place.kind() == detail::JsonNode::Kind::object)
        if (const auto chosen = place.find("default")) {
          const auto position = tunable.position(chosen->value("one of the values"));
          if (!position) chosen->refuse("is none of the values", "choose one of them");
          tunable.default_index = *position;
        }
      const bool used = detail::mentions(code.device, name) || detail::mentions(code.host, name) ||
                        detail::mentions(code.macros, name);
      if (!used) return fault("The tunable " + name + " is declared, but the code does not use it.");
      const auto known = std::find_if(tunables.begin(), tunables.end(),
                                      [&name = name](const Tunable& one) { return one.name == name; });
      if (known == tunables.end())
        tunables.push_back(std::move(tunable));
      else
        *known = std::move(tunable);
    }
    std::vector<std::string> names;
    for (const Tunable& tunable : tunables) names.push_back(tunable.name);
    for (const auto& [name, place] : members)
      if (place.kind() == detail::JsonNode::Kind::object)
        if (const auto condition = place.find("if")) {
          std::vector<std::string> others = names;
          std::erase(others, name);
          for (Tunable& tunable : tunables)
            if (tunable.name == name)
              tunable.active_if = detail::read_expression(*condition, others, "the other tunables");
        }
    if (const auto list = document.find("constraints"))
      for (const auto& item : list->items("list expressions over tunables"))
        constraints.emplace_back(detail::read_expression(item, names, "tunables"));
    Space joined = Space::build(std::move(tunables), std::move(constraints), {.max_states = most_states});
    return {{}, std::move(joined)};
  } catch (const ConfigError& error) {
    return fault(plain(error));
  }
}

Config carried_over(const Space& from, const Config& config, const Space& space) {
  Config result;
  for (std::size_t i = 0; i < space.size(); ++i) {
    std::size_t index = space.default_config().indices[i];
    if (const auto known = from.find(space.tunable(i).name))
      if (const auto position = space.tunable(i).position(from.value(config, *known))) index = *position;
    result.indices.push_back(static_cast<std::uint32_t>(index));
  }
  return space.contains(result) ? result : space.nearest(result);
}

}  // namespace kernelsearch
