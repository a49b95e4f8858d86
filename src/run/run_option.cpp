// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/run/run_option.hpp"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/core/impl/option_fault.hpp"
#include "kernelsearch/policy/policy_text.hpp"
#include "kernelsearch/store/json.hpp"
#include "kernelsearch/systems/system_registry.hpp"
#include "run_rows.hpp"
#include "systems/options_schema.hpp"

namespace kernelsearch {
namespace {

constexpr std::string_view owner = "a run";

std::string dashed(std::string_view name) {
  std::string text(name);
  std::replace(text.begin(), text.end(), '_', '-');
  return text;
}

/// The value of a member of a JSON object for this option.
Result<FieldValue> value_for(const RunOption& option, const nlohmann::json& given) {
  if (option.path == OptionPath::json && given.is_object()) return FieldValue(json_text(given));
  std::optional<FieldValue> value = field_from_json(given);
  if (!value)
    return detail::option_of_another_type(owner, option.name, json_text(given), option.values_text());
  return option.try_given(*std::move(value));
}

/// A path as it is found again when the run goes on, wherever that is done.
std::string found_again(const SystemOption& option, const std::string& text) {
  const bool is_file = text.ends_with(".json") || text.find('/') != std::string::npos;
  if (text.empty() || option.path == SystemPath::none || (option.path == SystemPath::file && !is_file))
    return text;
  return std::filesystem::absolute(text).lexically_normal().string();
}

}  // namespace

std::string_view heading_of(OptionGroup group) noexcept {
  constexpr std::string_view headings[] = {"Search",
                                           "Budget and limits",
                                           "Measuring",
                                           "Checks and sandbox",
                                           "Workers",
                                           "Systems and their models",
                                           "How systems write kernels",
                                           "Store and files"};
  return headings[static_cast<std::size_t>(group)];
}

std::string RunOption::command_flag() const {
  if (flag == "-") return {};
  if (!flag.empty()) return "--" + std::string(flag);
  return (negated() ? "--no-" : "--") + dashed(name);
}

std::string RunOption::name_in_store() const {
  if (!stored_name.empty()) return std::string(stored_name);
  return (negated() ? "no_" : "") + std::string(name);
}

std::optional<FieldValue> RunOption::standard() const {
  const RunOptions options;
  return read(&options);
}

Result<FieldValue> RunOption::try_given(FieldValue given) const {
  if (given == FieldValue(std::string()) && standard() == given) return given;
  return try_value(owner, std::move(given));
}

std::span<const RunOption> run_options() {
  return detail::rows::run;
}

Result<const RunOption*> try_find_run_option(std::string_view name) {
  std::vector<std::string> names;
  for (const RunOption& option : run_options()) {
    if (option.name == name) return &option;
    names.emplace_back(option.name);
  }
  return detail::unknown_option(owner, name, names);
}

Result<void> try_set_run_option(RunOptions& options, std::string_view name, FieldValue value) {
  const Result<const RunOption*> option = try_find_run_option(name);
  if (!option) return option.error();
  const Result<FieldValue> checked = (*option)->try_given(std::move(value));
  if (!checked) return checked.error();
  (*option)->write(&options, *checked);
  return {};
}

Result<void> try_set_run_options(RunOptions& options, const nlohmann::json& given) {
  for (const auto& [name, member] : given.items()) {
    const Result<const RunOption*> option = try_find_run_option(name);
    if (!option) return option.error();
    const Result<FieldValue> value = value_for(**option, member);
    if (!value) return value.error();
    (*option)->write(&options, *value);
  }
  return {};
}

std::string run_options_schema() {
  nlohmann::ordered_json schema = detail::options_schema(owner);
  for (const RunOption& option : run_options()) {
    nlohmann::ordered_json one =
        detail::field_schema(option, option.otherwise.empty() ? option.standard() : std::nullopt);
    if (option.path == OptionPath::json) one["type"] = "object";
    if (!option.otherwise.empty()) one["x-default"] = option.otherwise;
    one["x-group"] = heading_of(option.group);
    if (const std::string flag = option.command_flag(); !flag.empty()) one["x-flag"] = flag;
    schema["properties"][std::string(option.name)] = std::move(one);
  }
  return schema.dump(2);
}

void split_system(RunOptions& options) {
  if (options.system.find('(') == std::string::npos) return;
  const PolicyText text = detail::value_or_raise(try_parse_policy_text(options.system));
  const SystemEntry& system = find_system(text.name);
  nlohmann::json given = nlohmann::json::object();
  for (const auto& [name, value] : text.options) {
    nlohmann::json& member = given[name] = field_to_json(value);
    for (const SystemOption& option : system.options)
      if (option.name == name && member.is_string()) member = found_again(option, member.get<std::string>());
  }
  options.system = text.name;
  options.system_options =
      merged_system_options(options.system_options, json_text(given), "the options of " + text.name);
}

}  // namespace kernelsearch
