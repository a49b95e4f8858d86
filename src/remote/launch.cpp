// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/remote/launch.hpp"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/core/replace_all.hpp"
#include "kernelsearch/core/whole_file.hpp"
#include "kernelsearch/problem/shell_word.hpp"
#include "kernelsearch/store/json.hpp"

namespace kernelsearch {
namespace {

using nlohmann::json;

constexpr std::size_t most_lanes = 10'000;

/// The number of `x8`; 0: it is not one.
std::size_t count_of(std::string_view word) {
  if (word.size() < 2 || word.size() > 6 || word.front() != 'x') return 0;
  std::size_t count = 0;
  for (const char c : word.substr(1)) {
    if (c < '0' || c > '9') return 0;
    count = 10 * count + static_cast<std::size_t>(c - '0');
  }
  return count;
}

void check_count(std::size_t count) {
  if (count < 1 || count > most_lanes)
    detail::raise<ConfigError>("the number of workers is out of range", std::to_string(count),
                               "give 1 to 10000");
}

void check_prefix(const std::string& launch) {
  if (launch.empty())
    detail::raise<ConfigError>("nothing starts a worker", "\"\"", "give `local`, or a prefix");
  for (std::size_t at = launch.find('{'); at != std::string::npos; at = launch.find('{', at + 1)) {
    const std::size_t end = launch.find('}', at);
    if (end == std::string::npos) break;
    const std::string name = launch.substr(at, end - at + 1);
    const bool word =
        std::all_of(name.begin() + 1, name.end() - 1, [](char c) { return c >= 'a' && c <= 'z'; });
    if (at > 0 && launch[at - 1] == '$') continue;  // the shell's
    if (word && name.size() > 2 && name != "{worker}" && name != "{index}")
      detail::raise<ConfigError>("there is no such placeholder for starting workers", name,
                                 "there are {worker} and {index}");
  }
}

}  // namespace

LaunchPool launch_pool(std::string_view text) {
  LaunchPool pool;
  const std::size_t blank = text.rfind(' ');
  if (blank != std::string_view::npos && count_of(text.substr(blank + 1)) > 0) {
    pool.count = count_of(text.substr(blank + 1));
    text = text.substr(0, blank);
  }
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  pool.launch = text;
  check_prefix(pool.launch);
  check_count(pool.count);
  return pool;
}

std::vector<LaunchPool> read_pools(const std::filesystem::path& file, const std::string& device_class) {
  const std::optional<std::string> text = try_whole_file(file);
  if (!text) detail::raise<ConfigError>("the file of pools cannot be read", file.string(), "name another");
  const json whole = json::parse(*text, nullptr, false);
  constexpr const char* todo = R"(write {"pools": [{"launch": "ssh gpu3", "count": 2, "class": "h200"}]})";
  if (!whole.is_object() || !whole.contains("pools") || !whole["pools"].is_array())
    detail::raise<ConfigError>("the file has no pools", file.string(), todo);
  std::vector<LaunchPool> pools;
  std::string classes;
  for (const json& one : whole["pools"]) {
    if (!one.is_object())
      detail::raise<ConfigError>("a pool is not an object", file.string() + ": " + one.dump(), todo);
    LaunchPool pool;
    for (const auto& [name, value] : one.items()) {
      const bool fits = name == "count"         ? value.is_number_unsigned()
                        : name == "builds_only" ? value.is_boolean()
                                                : value.is_string();
      if (!fits || (name != "launch" && name != "count" && name != "class" && name != "worker" &&
                    name != "builds_only"))
        detail::raise<ConfigError>("a pool has what no pool can have",
                                   file.string() + ": " + name + ": " + value.dump(),
                                   "its members are launch, count, class, worker, builds_only");
    }
    pool.launch = one.value("launch", std::string());
    pool.count = one.value("count", std::size_t{1});
    pool.device_class = one.value("class", std::string());
    pool.worker = one.value("worker", std::string());
    pool.builds_only = one.value("builds_only", false);
    check_prefix(pool.launch);
    check_count(pool.count);
    if (device_class.empty() || device_class == pool.device_class || pool.builds_only) pools.push_back(pool);
    classes += (classes.empty() ? "" : ", ") + (pool.device_class.empty() ? "(none)" : pool.device_class);
  }
  if (std::none_of(pools.begin(), pools.end(), [](const LaunchPool& pool) { return !pool.builds_only; }))
    detail::raise<ConfigError>("no pool of that class measures",
                               device_class.empty() ? file.string() : device_class, "there are: " + classes);
  return pools;
}

std::vector<LaneLaunch> lanes_of(const std::vector<LaunchPool>& pools, const std::string& own_program,
                                 const std::vector<int>& devices) {
  std::vector<LaneLaunch> lanes;
  for (const LaunchPool& pool : pools) {
    for (std::size_t i = 0; i < pool.count; ++i) {
      const bool local = pool.launch == "local";
      const std::string program = !pool.worker.empty() ? pool.worker : local ? own_program : "kernelsearch";
      std::string worker = shell_word(program) + " worker --stdio";
      if (!pool.device_class.empty()) worker += " --class " + shell_word(pool.device_class);
      if (local && devices.size() > 1) worker += " --devices " + std::to_string(devices[i % devices.size()]);
      std::string command = local ? worker : pool.launch;
      if (!local && command.find("{worker}") == std::string::npos) command += " {worker}";
      detail::replace_all(command, "{worker}", worker);
      detail::replace_all(command, "{index}", std::to_string(lanes.size()));
      std::string name = pool.launch;
      detail::replace_all(name, "{place}", "...");
      lanes.push_back({"exec " + command, std::move(name), pool.builds_only, pool.place});
    }
  }
  if (lanes.size() > most_lanes)
    detail::raise<ConfigError>("the number of workers is out of range", std::to_string(lanes.size()),
                               "give at most 10000");
  return lanes;
}

}  // namespace kernelsearch
