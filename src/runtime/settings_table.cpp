// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/runtime/settings_table.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

#include "kernelsearch/core/device_identity.hpp"
#include "kernelsearch/core/error.hpp"
#include "shape_distance.hpp"
#include "values_json.hpp"

namespace kernelsearch {
namespace {

using json = nlohmann::ordered_json;
using detail::values_json;
using detail::values_of;

constexpr int format_version = 1;

/// Adds the text to the file, which is made where there is none; false, with errno set, where it cannot be,
/// or is a link: one that others put there would have us write to a file of their choice.
bool append_text(const std::filesystem::path& file, std::string_view text) {
  const int descriptor = ::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0666);
  if (descriptor < 0) return false;
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) break;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  const int error = errno;
  const bool closed = ::close(descriptor) == 0;
  if (!text.empty()) errno = error;
  return text.empty() && closed;
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
                   {"shape", values_json(settings.shape)},
                   {"settings", values_json(settings.values)},
                   {"seconds", settings.seconds}};
    if (settings.speedup > 0.0)
      object["speedup"] = {{"ratio", settings.speedup},
                           {"interval", {settings.speedup_interval.low, settings.speedup_interval.high}}};
    if (!settings.source.empty()) object["source"] = settings.source;
    text += object.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
  }
  if (!append_text(file, text))
    detail::raise<ConfigError>("the settings table cannot be written",
                               file.string() + ": " + std::strerror(errno),
                               "check that its folder exists and can be written, and that it is not a link");
}

std::optional<Settings> SettingsTable::best_for(std::string_view problem, std::string_view device,
                                                std::span<const std::pair<std::string, Value>> shape,
                                                double max_distance) const {
  const Settings* best = nullptr;
  double nearest = max_distance;
  for (const Settings& entry : entries_) {
    if (entry.problem != problem || !same_device(entry.device, device)) continue;
    const double away = detail::shape_distance(entry.shape, shape);
    if (away > nearest) continue;
    nearest = away;  // of equals the later line wins
    best = &entry;
  }
  if (best == nullptr) return std::nullopt;
  return *best;
}

}  // namespace kernelsearch
