// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/agents/strategy.hpp"

#include <algorithm>
#include <utility>

#include "agents/read_signs.hpp"
#include "kernelsearch/agents/data_files.hpp"
#include "kernelsearch/agents/quoted_text.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/core/impl/text.hpp"
#include "kernelsearch/problem/backend.hpp"
#include "problem/json_cursor.hpp"

namespace kernelsearch {
namespace {

constexpr std::size_t longest_strategy_description = 4000;
constexpr std::size_t longest_strategy_sentence = 1000;

std::vector<std::string> read_sentences(const detail::JsonCursor& place, const char* name, const char* todo) {
  std::vector<std::string> sentences;
  if (const auto list = place.find(name))
    for (const auto& item : list->items(todo)) {
      sentences.push_back(item.string(todo));
      if (sentences.back().empty() || sentences.back().size() > longest_strategy_sentence)
        item.refuse("is empty or too long", std::to_string(sentences.back().size()) + " characters",
                    "write at most 1000 characters");
    }
  return sentences;
}

StrategyPart read_part(const detail::JsonCursor& place) {
  StrategyPart part;
  part.steps = read_sentences(place, "steps", "list what to do, in order, a sentence or two each");
  part.knobs = read_sentences(place, "knobs", "list the sizes that decide, with values worth trying");
  part.hazards = read_sentences(place, "hazards", "list what goes wrong");
  return part;
}

Strategy read_strategy(const detail::JsonCursor& place, const std::vector<std::string>& backends) {
  constexpr const char* todo = "write {\"name\": ..., \"description\": ..., \"target\": ...}";
  (void)place.members(todo);
  place.only({"name", "description", "target", "relieves", "when", "unless", "needs", "lacks", "steps",
              "knobs", "hazards", "on", "signs"});
  Strategy strategy;
  const auto name = place.at("name", todo);
  strategy.name = name.string("a name such as tiling");
  if (!detail::is_lower_name(strategy.name))
    name.refuse("is not a name of a strategy", "use lower-case letters, digits and underscores, at most 64");
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
    if (!strategy.when) when->refuse("is not an expression", error, "write e.g. \"coalescing < 95\"");
    if (strategy.unless.empty())
      when->refuse("is a condition without a reason", "say under \"unless\" why the strategy is not tried");
  }
  strategy.backends = backends;
  strategy.needs = read_sentences(place, "needs", "list features of devices, e.g. [\"tma\"]");
  strategy.lacks = read_sentences(place, "lacks", "list features of devices, e.g. [\"tma\"]");
  strategy.signs = detail::read_signs(place.find("signs"));
  strategy.parts.push_back(read_part(place));
  if (const auto on = place.find("on"))
    for (const auto& item : on->items("list {\"needs\": [...], \"steps\": [...]}")) {
      (void)item.members("write {\"needs\": [...], \"steps\": [...], \"knobs\": [...], \"hazards\": [...]}");
      item.only({"needs", "lacks", "steps", "knobs", "hazards"});
      StrategyPart part = read_part(item);
      part.needs = read_sentences(item, "needs", "list features of devices, e.g. [\"tma\"]");
      part.lacks = read_sentences(item, "lacks", "list features of devices, e.g. [\"tma\"]");
      if (part.needs.empty() && part.lacks.empty())
        item.refuse("is for every device", "put it next to \"description\", or say what it needs or lacks");
      strategy.parts.push_back(std::move(part));
    }
  std::erase_if(strategy.parts, [](const StrategyPart& part) {
    return part.steps.empty() && part.knobs.empty() && part.hazards.empty();
  });
  return strategy;
}

bool has_all(const std::vector<std::string>& have, const std::vector<std::string>& wanted) {
  return std::all_of(wanted.begin(), wanted.end(), [&](const std::string& one) {
    return std::find(have.begin(), have.end(), one) != have.end();
  });
}

bool has_any(const std::vector<std::string>& have, const std::vector<std::string>& unwanted) {
  return std::any_of(unwanted.begin(), unwanted.end(), [&](const std::string& one) {
    return std::find(have.begin(), have.end(), one) != have.end();
  });
}

}  // namespace

bool Strategy::applies(const Features& features) const {
  return !when || holds_for(*when, features);
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
    (void)item.choice<Backend>("backend");
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

std::vector<Strategy> on_device(std::vector<Strategy> strategies, const MethodDevice& device) {
  std::vector<std::string> have = features_of_architecture(device.architecture);
  have.insert(have.end(), device.features.begin(), device.features.end());
  const auto fits = [&have](const auto& one) {
    return has_all(have, one.needs) && !has_any(have, one.lacks);
  };
  std::erase_if(strategies, [&](const Strategy& strategy) { return !fits(strategy); });
  for (Strategy& strategy : strategies)
    std::erase_if(strategy.parts, [&](const StrategyPart& part) { return !fits(part); });
  return strategies;
}

std::string strategy_text(const Strategy& strategy) {
  std::string text = clean_text(strategy.description);
  const auto list = [&](const char* begins, std::vector<std::string> StrategyPart::*what, bool numbered) {
    std::size_t at = 0;
    for (const StrategyPart& part : strategy.parts)
      for (const std::string& sentence : part.*what) {
        if (at++ == 0) text += begins;
        text += (numbered ? std::to_string(at) + ". " : "- ") + clean_text(sentence) + '\n';
      }
  };
  list("\n\nSteps:\n", &StrategyPart::steps, true);
  list("\nWhat decides, and values worth trying:\n", &StrategyPart::knobs, false);
  list("\nWhat goes wrong:\n", &StrategyPart::hazards, false);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

std::vector<std::string> strategy_names(const std::vector<Strategy>& strategies) {
  std::vector<std::string> names;
  for (const Strategy& strategy : strategies) names.push_back(strategy.name);
  return names;
}

std::vector<const Strategy*> ranked_strategies(const std::vector<Strategy>& strategies,
                                               const Features& features, const Features& problem) {
  std::vector<std::pair<double, const Strategy*>> ranked;
  for (const Strategy& strategy : strategies)
    if (strategy.applies(features))
      ranked.emplace_back(seen_signs(strategy.signs, features, problem).worth, &strategy);
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<const Strategy*> order;
  for (const auto& [worth, strategy] : ranked) order.push_back(strategy);
  return order;
}

std::vector<StrategySigns> strategy_signs(const std::vector<Strategy>& strategies) {
  std::vector<StrategySigns> all;
  for (const Strategy& strategy : strategies)
    if (!strategy.signs.empty()) all.push_back({strategy.name, strategy.signs});
  return all;
}

std::vector<StrategyTarget> strategy_targets(const std::vector<Strategy>& strategies) {
  std::vector<StrategyTarget> targets;
  for (const Strategy& strategy : strategies)
    if (!strategy.relieves.empty()) targets.push_back({strategy.name, strategy.relieves});
  return targets;
}

}  // namespace kernelsearch
