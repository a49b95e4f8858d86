// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/systems/system_options.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/core/impl/option_fault.hpp"
#include "kernelsearch/store/json.hpp"
#include "options_schema.hpp"

namespace kernelsearch {
namespace {

using nlohmann::json;

/// The option as a row of the table of all options; `choices` must outlive it.
Field field_of(const SystemOption& option, std::vector<std::string_view>& choices) {
  choices.assign(option.choices.begin(), option.choices.end());
  Field field{.name = option.name, .summary = option.summary};
  field.type = static_cast<FieldType>(
      std::visit([](const auto& of) { return FieldValue(of).index(); }, option.standard));
  field.least = option.least;
  field.most = option.most;
  field.choices = choices;
  return field;
}

/// The option's value as JSON gives it; ConfigError where it cannot have it.
Value value_for(std::string_view system, const SystemOption& option, const json& given) {
  std::vector<std::string_view> choices;
  const Field field = field_of(option, choices);
  const std::optional<FieldValue> value = field_from_json(given);
  if (!value)
    detail::raise_config_error(
        detail::option_of_another_type(system, option.name, json_text(given), field.values_text()));
  return std::visit(
      [](const auto& of) -> Value {
        if constexpr (std::is_constructible_v<Value, decltype(of)>)
          return of;
        else
          return {};  // no option of a system is a list of strings
      },
      detail::value_or_raise(field.try_value(system, *value)));
}

/// The option's value in the variant, and where that comes from.
std::pair<const Value&, const std::string&> standard_in(const SystemOption& option,
                                                        std::string_view variant) {
  for (const VariantValue& one : option.variants)
    if (one.variant == variant) return {one.value, one.source};
  return {option.standard, option.source};
}

nlohmann::json read_options(std::string_view text, std::string_view what) {
  if (text.empty()) return nlohmann::json::object();
  nlohmann::json given = parse_json(text, what);
  if (!given.is_object())
    detail::raise<ConfigError>("the options of a system are a JSON object", std::string(text.substr(0, 80)),
                               R"(write {"NAME": value, ...})");
  return given;
}

}  // namespace

SystemOptions::SystemOptions(std::string_view system, std::span<const SystemOption> options,
                             std::string_view text) {
  const nlohmann::json given = read_options(text, "the options of " + std::string(system));
  std::string variant;
  for (const SystemOption& option : options) {
    if (option.name != "variant") continue;
    const auto named = given.find("variant");
    variant = to_string(named != given.end() && named->is_string() ? Value(named->get<std::string>())
                                                                   : option.standard);
  }
  for (const SystemOption& option : options) values_.emplace(option.name, standard_in(option, variant).first);
  for (const auto& [name, value] : given.items()) {
    const SystemOption* known = nullptr;
    std::vector<std::string> names;
    for (const SystemOption& option : options) {
      names.push_back(option.name);
      if (option.name == name) known = &option;
    }
    if (known == nullptr) detail::raise_config_error(detail::unknown_option(system, name, names));
    values_[name] = value_for(system, *known, value);
  }
}

const Value& SystemOptions::value(std::string_view name) const {
  const auto found = values_.find(name);
  if (found == values_.end())
    detail::raise<ConfigError>("the system has no such option", name, "declare it in its registry entry");
  return found->second;
}

namespace {
template <class T>
const T& as(const Value& value, std::string_view name) {
  if (const T* typed = std::get_if<T>(&value)) return *typed;
  detail::raise<ConfigError>("the option is of another type", name,
                             std::string("it is a ") + type_name(value));
}
}  // namespace

std::int64_t SystemOptions::integer(std::string_view name) const {
  return as<std::int64_t>(value(name), name);
}
std::size_t SystemOptions::count(std::string_view name) const {
  return static_cast<std::size_t>(std::max<std::int64_t>(0, integer(name)));
}
double SystemOptions::number(std::string_view name) const {
  return as<double>(value(name), name);
}
bool SystemOptions::flag(std::string_view name) const {
  return as<bool>(value(name), name);
}
std::string SystemOptions::text(std::string_view name) const {
  return as<std::string>(value(name), name);
}

bool SystemOptions::given(std::string_view name) const {
  const auto found = values_.find(name);
  const std::string* text = found == values_.end() ? nullptr : std::get_if<std::string>(&found->second);
  return text != nullptr && !text->empty();
}

std::string SystemOptions::json() const {
  nlohmann::json out = nlohmann::json::object();
  for (const auto& [name, value] : values_) out[name] = value_to_json(value);
  return json_text(out);
}

SystemOption variant_option(std::span<const SystemVariant> variants) {
  SystemOption option{"variant", variants.empty() ? std::string() : variants.front().name, "", ""};
  for (const SystemVariant& variant : variants) {
    option.choices.push_back(variant.name);
    option.summary += (option.summary.empty() ? "" : "; ") + variant.name + ": " + variant.summary;
    option.source += (option.source.empty() ? "" : "; ") + variant.source;
  }
  return option;
}

std::string merged_system_options(std::string_view below, std::string_view above, std::string_view what) {
  nlohmann::json options = read_options(below, what);
  options.update(read_options(above, what));
  return options.empty() ? "" : json_text(options);
}

std::string system_options_schema(std::string_view system, std::span<const SystemOption> options) {
  nlohmann::ordered_json schema = detail::options_schema(system);
  for (const SystemOption& option : options) {
    std::vector<std::string_view> choices;
    Field field = field_of(option, choices);
    const std::string description = option.summary + " (" + option.source + ")";
    field.summary = description;
    nlohmann::ordered_json one = detail::field_schema(
        field, std::visit([](const auto& of) { return FieldValue(of); }, option.standard));
    for (const VariantValue& variant : option.variants)
      one["x-variants"][variant.variant] = {{"default", value_to_json(variant.value)},
                                            {"source", variant.source}};
    schema["properties"][option.name] = std::move(one);
  }
  return schema.dump(2);
}

}  // namespace kernelsearch
