// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/agents/config_item.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

namespace kernelsearch {
namespace {

using UnorderedJson = nlohmann::json;

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool same_but_for_case(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return lower(x) == lower(y); });
}

std::optional<std::size_t> tunable_of(const Space& space, const std::string& name) {
  if (const auto exact = space.find(name)) return exact;
  std::optional<std::size_t> found;
  for (std::size_t i = 0; i < space.size(); ++i) {
    if (!same_but_for_case(space.tunable(i).name, name)) continue;
    if (found) return std::nullopt;
    found = i;
  }
  return found;
}

std::optional<double> number_in(const std::string& text) {
  double number = 0.0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number);
  if (read.ec != std::errc{} || read.ptr != end) return std::nullopt;
  return number;
}

/// The JSON value as a tunable's; a list of one thing counts as that thing.
std::optional<Value> value_of(const UnorderedJson& json) {
  switch (json.type()) {
    case UnorderedJson::value_t::boolean:
      return Value{json.get<bool>()};
    case UnorderedJson::value_t::number_integer:
      return Value{json.get<std::int64_t>()};
    case UnorderedJson::value_t::number_unsigned: {
      const auto number = json.get<std::uint64_t>();
      if (number > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
        return Value{static_cast<double>(number)};
      return Value{static_cast<std::int64_t>(number)};
    }
    case UnorderedJson::value_t::number_float:
      return Value{json.get<double>()};
    case UnorderedJson::value_t::string:
      return Value{json.get<std::string>()};
    case UnorderedJson::value_t::array: {
      if (json.size() == 1 && !json.front().is_array()) return value_of(json.front());
      Permutation order;
      for (const UnorderedJson& item : json) {
        if (!item.is_number_integer()) return std::nullopt;
        order.push_back(item.get<std::int64_t>());
      }
      return Value{std::move(order)};
    }
    default:
      return std::nullopt;
  }
}

double distance(const Tunable& tunable, const Value& value, double wish) {
  const double number = to_number(value);
  if (tunable.kind == TunableKind::power_of_two && number > 0 && wish > 0)
    return std::abs(std::log2(number) - std::log2(wish));
  return std::abs(number - wish);
}

struct Position {
  std::size_t at = 0;
  bool repaired = false;
};

std::optional<Position> position_of(const Tunable& tunable, Value value) {
  if (const auto exact = tunable.position(value)) return Position{*exact, false};
  if (const auto* text = std::get_if<std::string>(&value)) {
    for (std::size_t i = 0; i < tunable.values.size(); ++i)
      if (same_but_for_case(to_string(tunable.values[i]), *text)) return Position{i, false};
    const auto number = number_in(*text);
    if (!number) return std::nullopt;
    value = *number;
    if (const auto exact = tunable.position(value)) return Position{*exact, false};
  }
  if (value.index() > 2) return std::nullopt;
  const double wish = to_number(value);
  if (!std::isfinite(wish)) return std::nullopt;
  std::optional<std::size_t> nearest;
  for (std::size_t i = 0; i < tunable.values.size(); ++i) {
    if (tunable.values[i].index() > 2) continue;
    if (!nearest ||
        distance(tunable, tunable.values[i], wish) < distance(tunable, tunable.values[*nearest], wish))
      nearest = i;
  }
  if (!nearest) return std::nullopt;
  return Position{*nearest, true};
}

}  // namespace

std::optional<ConfigItem> read_config_item(const Space& space, std::string_view json) {
  const UnorderedJson parsed = UnorderedJson::parse(json, nullptr, false);
  if (!parsed.is_object()) return std::nullopt;
  const UnorderedJson* object = &parsed;
  // `{"config": {...}}`, as some models write it.
  if (object->size() == 1 && object->begin().value().is_object() && !tunable_of(space, object->begin().key()))
    object = &object->begin().value();

  ConfigItem item;
  item.config = space.default_config();
  for (const auto& [name, member] : object->items()) {
    const auto tunable = tunable_of(space, name);
    if (tunable && member.is_null()) continue;  // no value is asked for: its default
    const auto value = tunable ? value_of(member) : std::nullopt;
    const auto position = value ? position_of(space.tunable(*tunable), *value) : std::nullopt;
    if (!position) {
      ++item.ignored;
      continue;
    }
    ++item.understood;
    item.repaired += position->repaired ? 1 : 0;
    item.config.indices[*tunable] = static_cast<std::uint32_t>(position->at);
  }
  if (item.understood == 0 && !object->empty()) return std::nullopt;
  if (!space.contains(item.config)) {
    item.config = space.nearest(item.config);
    item.moved = true;
  }
  return item;
}

}  // namespace kernelsearch
