// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/agents/space_text.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <variant>
#include <vector>

namespace kernelsearch {
namespace {

using Json = nlohmann::ordered_json;

Json json_of_value(const Value& value) {
  return std::visit([](const auto& held) { return Json(held); }, value);
}

std::string text_of(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// `16, 32, ..., 1024` where the values are the powers of two, `1 to 63 by 2` where steps are equal.
std::optional<std::string> as_range(const Tunable& tunable) {
  if (tunable.values.size() < 4) return std::nullopt;
  std::vector<std::int64_t> numbers;
  for (const Value& value : tunable.values) {
    const auto* number = std::get_if<std::int64_t>(&value);
    if (number == nullptr) return std::nullopt;
    numbers.push_back(*number);
  }
  const std::string ends = std::to_string(numbers.front()) + " to " + std::to_string(numbers.back());
  bool doubling = true, even = true;
  for (std::size_t i = 1; i < numbers.size(); ++i) {
    doubling = doubling && numbers[i - 1] > 0 && numbers[i] / 2 == numbers[i - 1] && numbers[i] % 2 == 0;
    even = even && numbers[i] - numbers[i - 1] == numbers[1] - numbers[0];
  }
  if (doubling) return "powers of two from " + ends;
  if (even)
    return ends + (numbers[1] - numbers[0] == 1 ? "" : " by " + std::to_string(numbers[1] - numbers[0]));
  return std::nullopt;
}

std::string values_text(const Tunable& tunable, std::size_t most) {
  if (tunable.kind == TunableKind::boolean && tunable.values.size() == 2) return "false or true";
  if (auto range = as_range(tunable)) return *std::move(range);
  const std::size_t count = tunable.values.size();
  const bool all = count <= std::max<std::size_t>(most, 2);
  const std::size_t head = all ? count : most - most / 3, tail = all ? 0 : std::max<std::size_t>(most / 3, 1);
  std::string text = tunable.kind == TunableKind::categorical ? "one of " : "";
  for (std::size_t i = 0; i < head; ++i)
    (text += i == 0 ? "" : ", ") += text_of(json_of_value(tunable.values[i]));
  if (all) return text;
  text += ", ...";
  for (std::size_t i = count - tail; i < count; ++i)
    (text += ", ") += text_of(json_of_value(tunable.values[i]));
  return text + " (" + std::to_string(count) + " values)";
}

Json object_of(const Space& space, const Config& config, const Config* base) {
  Json object = Json::object();
  for (std::size_t i = 0; i < space.size(); ++i)
    if (base == nullptr || base->indices[i] != config.indices[i])
      object[space.tunable(i).name] = json_of_value(space.value(config, i));
  return object;
}

}  // namespace

std::string space_text(const Space& space, SpaceTextOptions options) {
  std::string text;
  for (std::size_t i = 0; i < space.size(); ++i) {
    const Tunable& tunable = space.tunable(i);
    text += "- " + tunable.name + " (" + to_string(tunable.kind) +
            "): " + values_text(tunable, options.max_values) + "; default " +
            text_of(json_of_value(space.value(space.default_config(), i)));
    if (tunable.active_if) text += "; has an effect only if " + tunable.active_if->text();
    text += '\n';
  }
  const auto constraints = space.constraints();
  if (!constraints.empty()) text += "Constraints, all of which must hold:\n";
  for (std::size_t i = 0; i < std::min(constraints.size(), options.max_constraints); ++i) {
    text += "- " + constraints[i].text();
    if (!constraints[i].expression()) {
      text += " (of";
      for (const std::string& name : constraints[i].names()) text += ' ' + name;
      text += ')';
    }
    text += '\n';
  }
  if (constraints.size() > options.max_constraints)
    text += "- and " + std::to_string(constraints.size() - options.max_constraints) + " more\n";
  return text + "Valid configurations: " + space.count().to_string() + '\n';
}

std::string json_text(const Value& value) {
  return text_of(json_of_value(value));
}

std::string config_schema(const Space& space) {
  constexpr std::size_t most_tunables = 100, most_values = 500;  // what strict schemas of providers may hold
  std::size_t values = 0;
  Json members = Json::object(), names = Json::array();
  for (const Tunable& tunable : space.tunables()) {
    Json member, types = Json::array({"null"}), listed = Json::array();
    for (const Value& value : tunable.values) {
      const Json json = json_of_value(value);
      // Enumerations of lists are in no provider's subset: the reader takes the nearest order.
      if (json.is_array()) {
        member["items"] = {{"type", "integer"}};
        if (types.size() == 1) types.push_back("array");
        continue;
      }
      const char* type = json.is_boolean()          ? "boolean"
                         : json.is_number_integer() ? "integer"
                         : json.is_number()         ? "number"
                                                    : "string";
      if (std::find(types.begin(), types.end(), type) == types.end()) types.push_back(type);
      listed.push_back(json);
    }
    values += listed.size();
    member["type"] = std::move(types);
    if (!listed.empty()) {
      listed.push_back(nullptr);
      member["enum"] = std::move(listed);
    }
    members[tunable.name] = std::move(member);
    names.push_back(tunable.name);
  }
  if (space.size() > most_tunables || values > most_values) return {};
  const Json item{{"type", "object"},
                  {"properties", std::move(members)},
                  {"required", std::move(names)},
                  {"additionalProperties", false}};
  const Json schema{{"type", "object"},
                    {"properties", {{"configs", {{"type", "array"}, {"items", item}}}}},
                    {"required", {"configs"}},
                    {"additionalProperties", false}};
  return text_of(schema);
}

std::string config_text(const Space& space, const Config& config) {
  return text_of(object_of(space, config, nullptr));
}

std::string config_difference(const Space& space, const Config& config, const Config& base) {
  return text_of(object_of(space, config, &base));
}

}  // namespace kernelsearch
