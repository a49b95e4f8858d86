// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/run/narrowed_space.hpp"

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <utility>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/store/json.hpp"

namespace kernelsearch {
namespace {

std::vector<Tunable> with_own_defaults(const Space& space) {
  std::vector<Tunable> tunables(space.tunables().begin(), space.tunables().end());
  for (std::size_t i = 0; i < tunables.size(); ++i)
    tunables[i].default_index = space.default_config().indices[i];
  return tunables;
}

/// Drops the values of the one tunable that a condition reads; a constraint would leave them in every
/// listing.
void drop_values(Tunable& tunable, const Constraint& condition, const std::string& text) {
  const std::vector<Value> all = std::exchange(tunable.values, {});
  const std::size_t before = tunable.default_index;
  std::size_t nearest = all.size();
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!condition.holds(std::span(&all[i], 1))) continue;
    const std::size_t distance = i > before ? i - before : before - i;
    if (distance < nearest) {
      nearest = distance;
      tunable.default_index = tunable.values.size();
    }
    tunable.values.push_back(all[i]);
  }
  if (tunable.values.empty())
    detail::raise<ConfigError>("--where leaves no value of " + tunable.name, text,
                               "see `kernelsearch space`");
}

}  // namespace

Space narrowed(const Space& space, const std::vector<std::string>& where) {
  if (where.empty()) return space;
  std::vector<Tunable> tunables = with_own_defaults(space);
  std::vector<Constraint> constraints(space.constraints().begin(), space.constraints().end());
  for (const std::string& text : where) {
    Constraint condition(text);
    const auto found = condition.names().size() != 1
                           ? tunables.end()
                           : std::find_if(tunables.begin(), tunables.end(), [&](const Tunable& tunable) {
                               return tunable.name == condition.names().front();
                             });
    if (found != tunables.end())
      drop_values(*found, condition, text);
    else
      constraints.push_back(std::move(condition));
  }
  return Space::build(std::move(tunables), std::move(constraints));
}

Space listed_in(const Space& space, const std::filesystem::path& file) {
  std::ifstream stream(file);
  auto json = nlohmann::json::parse(stream, nullptr, false);
  if (json.is_object() && json.contains("configs")) json = nlohmann::json(json["configs"]);
  if (!json.is_array() || json.empty())
    detail::raise<ConfigError>(
        "the file lists no configurations", file.string(),
        "write a JSON array of objects with a value for each tunable, or {\"configs\": [...]}");
  std::vector<Config> configs;
  for (const auto& entry : json) {
    Config config;
    for (const Tunable& tunable : space.tunables()) {
      const auto value = entry.is_object() ? entry.find(tunable.name) : entry.end();
      const auto position = value == entry.end() ? std::nullopt : tunable.position(value_from_json(*value));
      if (!position)
        detail::raise<ConfigError>("a listed configuration has no valid value of " + tunable.name,
                                   entry.dump(), "see `kernelsearch space` for the values");
      config.indices.push_back(static_cast<std::uint32_t>(*position));
    }
    if (!space.contains(config))
      detail::raise<ConfigError>("a listed configuration breaks a constraint", entry.dump(), "leave it out");
    configs.push_back(std::move(config));
  }
  return Space::listed(with_own_defaults(space), std::move(configs),
                       std::vector<Constraint>(space.constraints().begin(), space.constraints().end()));
}

}  // namespace kernelsearch
