// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/runtime/settings_table.hpp"

#include <cmath>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "kernelsearch/core/error.hpp"

namespace kernelsearch {
namespace {

// Keeps the order of the tunables, which is the order in which people read them.
using json = nlohmann::ordered_json;
using NamedValues = std::vector<std::pair<std::string, Value>>;

constexpr int format_version = 1;

json to_json(const NamedValues& values) {
  json object = json::object();
  for (const auto& [name, value] : values)
    std::visit([&object, &key = name](const auto& one) { object[key] = one; }, value);
  return object;
}

/// Throws json exceptions on anything unexpected; `parse_line` gives them their line.
NamedValues values_of(const json& object) {
  NamedValues values;
  for (const auto& [name, value] : object.get_ref<const json::object_t&>()) {
    if (value.is_boolean())
      values.emplace_back(name, value.get<bool>());
    else if (value.is_number_integer())
      values.emplace_back(name, value.get<std::int64_t>());
    else if (value.is_number_float())
      values.emplace_back(name, value.get<double>());
    else if (value.is_string())
      values.emplace_back(name, value.get<std::string>());
    else
      values.emplace_back(name, value.get<Permutation>());
  }
  return values;
}

Settings parse_line(const std::string& line) {
  const json object = json::parse(line);
  if (object.at("settings_format") != format_version)
    throw std::runtime_error("written by a newer kernelsearch");
  Settings settings;
  settings.problem = object.at("problem").get<std::string>();
  settings.device = object.at("device").get<std::string>();
  settings.shape = values_of(object.at("shape"));
  settings.values = values_of(object.at("settings"));
  settings.seconds = object.at("seconds").get<double>();
  if (const auto speedup = object.find("speedup"); speedup != object.end()) {
    settings.speedup = speedup->at("ratio").get<double>();
    settings.speedup_interval = {speedup->at("interval").at(0).get<double>(),
                                 speedup->at("interval").at(1).get<double>()};
  }
  settings.source = object.value("source", "");
  return settings;
}

/// Infinity where the shapes cannot be compared.
double distance(std::span<const std::pair<std::string, Value>> a,
                std::span<const std::pair<std::string, Value>> b) {
  constexpr double never = std::numeric_limits<double>::infinity();
  if (a.size() != b.size()) return never;
  double sum = 0.0;
  for (const auto& [name, value] : a) {
    const Value* other = nullptr;
    for (const auto& [other_name, other_value] : b)
      if (other_name == name) other = &other_value;
    if (other == nullptr) return never;
    if (value == *other) continue;
    const double x = to_number(value), y = to_number(*other);
    if (!(x > 0.0) || !(y > 0.0) || value.index() == 0 || other->index() == 0) return never;
    const double step = std::log2(x / y);
    sum += step * step;
  }
  return std::sqrt(sum);
}

}  // namespace

SettingsTable SettingsTable::load(const std::filesystem::path& file) {
  SettingsTable table;
  std::error_code error;
  if (!std::filesystem::exists(file, error) && !error) return table;
  std::ifstream in(file);
  if (!in || std::filesystem::is_directory(file, error))
    detail::raise<ConfigError>("the settings table cannot be read", file.string(), "check its permissions");
  int number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    try {
      table.entries_.push_back(parse_line(line));
    } catch (const std::exception& problem) {
      detail::raise<ConfigError>("the settings table has a damaged line",
                                 file.string() + ":" + std::to_string(number) + ": " + problem.what(),
                                 "write it again with `kernelsearch best` or remove the line");
    }
  }
  return table;
}

void SettingsTable::append(const std::filesystem::path& file, std::span<const Settings> entries) {
  std::string text;
  for (const Settings& settings : entries) {
    json object = {{"settings_format", format_version},
                   {"problem", settings.problem},
                   {"device", settings.device},
                   {"shape", to_json(settings.shape)},
                   {"settings", to_json(settings.values)},
                   {"seconds", settings.seconds}};
    if (settings.speedup > 0.0)
      object["speedup"] = {{"ratio", settings.speedup},
                           {"interval", {settings.speedup_interval.low, settings.speedup_interval.high}}};
    if (!settings.source.empty()) object["source"] = settings.source;
    text += object.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
  }
  std::ofstream out(file, std::ios::app | std::ios::binary);
  out << text << std::flush;
  if (!out)
    detail::raise<ConfigError>("the settings table cannot be written", file.string(),
                               "check that its folder exists and can be written");
}

std::optional<Settings> SettingsTable::best_for(std::string_view problem, std::string_view device,
                                                std::span<const std::pair<std::string, Value>> shape,
                                                double max_distance) const {
  const Settings* best = nullptr;
  double nearest = max_distance;
  for (const Settings& entry : entries_) {
    if (entry.problem != problem || entry.device != device) continue;
    const double away = distance(entry.shape, shape);
    if (away > nearest) continue;
    nearest = away;  // of equals the later line wins
    best = &entry;
  }
  if (best == nullptr) return std::nullopt;
  return *best;
}

}  // namespace kernelsearch
