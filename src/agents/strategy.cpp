// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/agents/strategy.hpp"

#include <algorithm>
#include <utility>

#include "kernelsearch/agents/data_files.hpp"
#include "kernelsearch/core/error.hpp"
#include "problem/json_cursor.hpp"

namespace kernelsearch {
namespace {

constexpr std::size_t longest_strategy_description = 4000;

/// Lower-case letters, digits and underscores: a strategy's name is a key in stores and a word in prompts.
bool is_strategy_name(const std::string& name) {
  return !name.empty() && name.size() <= 64 && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  });
}

Strategy read_strategy(const detail::JsonCursor& place, const std::vector<std::string>& backends) {
  constexpr const char* todo = "write {\"name\": ..., \"description\": ..., \"target\": ...}";
  (void)place.members(todo);
  place.only({"name", "description", "target", "relieves", "when", "unless"});
  Strategy strategy;
  const auto name = place.at("name", todo);
  strategy.name = name.string("a name such as tiling");
  if (!is_strategy_name(strategy.name))
    name.refuse("is no name of a strategy", "use lower-case letters, digits and underscores, at most 64");
  const auto description = place.at("description", todo);
  strategy.description = description.string("say what to do, in words");
  if (strategy.description.empty() || strategy.description.size() > longest_strategy_description)
    description.refuse("is empty or too long", std::to_string(strategy.description.size()) + " characters",
                       "say what to do in at most 4000 characters");
  strategy.target = place.at("target", todo).string("the resource that it relieves, such as dram");
  if (const auto relieves = place.find("relieves"))
    strategy.relieves = relieves->string("the name of a feature in percent, such as dram_utilisation");
  if (const auto unless = place.find("unless"))
    strategy.unless = unless->string("say in words when it is not worth trying");
  if (const auto when = place.find("when")) {
    std::string error;
    strategy.when = Expression::try_parse(when->string("an expression over features"), error);
    if (!strategy.when) when->refuse("is no expression", error, "write e.g. \"coalescing < 95\"");
    if (strategy.unless.empty())
      when->refuse("is a condition without a reason", "say under \"unless\" why the strategy is not tried");
  }
  strategy.backends = backends;
  return strategy;
}

}  // namespace

bool Strategy::applies(const Features& features) const {
  if (!when) return true;
  std::vector<Value> values;
  for (const std::string& feature : when->names()) {
    const auto value = features.find(feature);
    if (!value) return true;
    values.emplace_back(*value);
  }
  return when->try_test(values).value_or(true);
}

std::vector<Strategy> parse_strategies(std::string_view text, const std::string& file) {
  const detail::JsonNode document = detail::parse_json(text, file);
  const detail::JsonCursor root(document, file);
  constexpr const char* todo =
      "write {\"schema\": 1, \"name\": ..., \"backends\": [...], \"strategies\": [...]}";
  (void)root.members(todo);
  root.only({"schema", "name", "description", "backends", "strategies"});
  if (const auto schema = root.at("schema", todo); schema.integer("the schema is 1") != 1)
    schema.refuse("is a schema that this version does not know", "it knows schema 1");
  (void)root.at("name", todo).string("name the set");
  if (const auto description = root.find("description")) (void)description->string("say what the set is");
  std::vector<std::string> backends;
  for (const auto& item : root.at("backends", todo).items("list backends, e.g. [\"host\"]")) {
    (void)read_backend(item);
    backends.push_back(item.node().string);
  }
  std::vector<Strategy> strategies;
  for (const auto& item : root.at("strategies", todo).items("list strategies")) {
    Strategy strategy = read_strategy(item, backends);
    for (const Strategy& other : strategies)
      if (other.name == strategy.name)
        item.refuse("has a name that stands above already", strategy.name, "give each its own");
    strategies.push_back(std::move(strategy));
  }
  if (strategies.empty())
    root.at("strategies", todo).refuse("is an empty list", "list at least one strategy");
  return strategies;
}

std::vector<Strategy> read_strategies(std::string_view backend, const std::filesystem::path& user) {
  std::vector<Strategy> all;
  for (const DataFile& file : data_files("strategies", user)) {
    if (!file.name.ends_with(".json")) continue;
    const std::string name = file.path.empty() ? "strategies/" + file.name : file.path.string();
    for (Strategy& strategy : parse_strategies(file.text, name)) {
      if (!backend.empty() &&
          std::find(strategy.backends.begin(), strategy.backends.end(), backend) == strategy.backends.end())
        continue;
      if (!backend.empty())
        for (const Strategy& other : all)
          if (other.name == strategy.name)
            detail::raise<ConfigError>("two files of strategies have the same name for one backend",
                                       strategy.name + " in " + name, "rename one of them");
      all.push_back(std::move(strategy));
    }
  }
  return all;
}

std::vector<std::string> strategy_names(const std::vector<Strategy>& strategies) {
  std::vector<std::string> names;
  for (const Strategy& strategy : strategies) names.push_back(strategy.name);
  return names;
}

std::vector<StrategyTarget> strategy_targets(const std::vector<Strategy>& strategies) {
  std::vector<StrategyTarget> targets;
  for (const Strategy& strategy : strategies)
    if (!strategy.relieves.empty()) targets.push_back({strategy.name, strategy.relieves});
  return targets;
}

}  // namespace kernelsearch
