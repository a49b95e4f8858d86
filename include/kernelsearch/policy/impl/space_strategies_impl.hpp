// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <utility>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/policy/space_strategies.hpp"

namespace kernelsearch {

KERNELSEARCH_INLINE SpaceStrategies::SpaceStrategies(Space space, SpaceStrategiesOptions options)
    : space_(std::move(space)), options_(std::move(options)) {
  if (options_.groups.empty())
    for (std::size_t i = 0; i < space_.size(); ++i)
      if (space_.usable(i).size() > 1) groups_.push_back({space_.tunable(i).name, {i}});
  for (const TunableGroup& named : options_.groups) {
    Group group{named.name, {}};
    for (const std::string& name : named.tunables) {
      const std::optional<std::size_t> tunable = space_.find(name);
      if (!tunable)
        detail::raise<ConfigError>("a group names a tunable that the space does not have", name,
                                   "name tunables of the space");
      group.tunables.push_back(*tunable);
    }
    if (group.tunables.empty())
      detail::raise<ConfigError>("a group has no tunables", named.name, "name at least one");
    groups_.push_back(std::move(group));
  }
}

KERNELSEARCH_INLINE std::vector<std::string> SpaceStrategies::names() const {
  std::vector<std::string> result;
  for (const Group& group : groups_) result.push_back(group.name);
  return result;
}

KERNELSEARCH_INLINE const SpaceStrategies::Group* SpaceStrategies::find(std::string_view name) const {
  for (const Group& group : groups_)
    if (group.name == name) return &group;
  return nullptr;
}

/// Depends on the parents and the strategies, not on the variant: variants share one order.
KERNELSEARCH_INLINE Rng SpaceStrategies::stream(const Move& move, std::span<const Config> parents) const {
  std::uint64_t seed = options_.seed;
  for (const Config& parent : parents) seed = seed * 0x9e3779b97f4a7c15ULL + std::hash<Config>{}(parent);
  std::string role = "space_strategies";
  for (const std::string& name : move.strategies) role += "\n" + name;
  return Rng::stream(seed, role);
}

KERNELSEARCH_INLINE std::vector<Config> SpaceStrategies::alternatives(const Config& parent,
                                                                      const Group& group, Rng& rng) const {
  std::vector<Config> result;
  std::size_t product = 1;
  for (const std::size_t i : group.tunables)
    product = product > options_.max_alternatives ? product : product * space_.usable(i).size();
  Config config = parent;
  if (product > options_.max_alternatives) {
    for (std::size_t draw = 0; draw < options_.max_alternatives; ++draw) {
      for (const std::size_t i : group.tunables)
        config.indices[i] = space_.usable(i)[rng.below(space_.usable(i).size())];
      if (config != parent && space_.contains(config)) result.push_back(config);
    }
    return result;
  }
  for (std::size_t rank = 0; rank < product; ++rank) {
    std::size_t rest = rank;
    for (const std::size_t i : group.tunables) {
      const auto usable = space_.usable(i);
      config.indices[i] = usable[rest % usable.size()];
      rest /= usable.size();
    }
    if (config != parent && space_.contains(config)) result.push_back(config);
  }
  rng.shuffle(result);
  return result;
}

KERNELSEARCH_INLINE std::optional<Config> SpaceStrategies::apply(
    const Move& move, std::span<const Config> parents,
    const std::function<bool(const Config&)>& tried) const {
  const auto fresh = [&](Config config) -> std::optional<Config> {
    if (!space_.contains(config) || tried(config)) return std::nullopt;
    return config;
  };
  if (move.kind == MoveKind::root) return fresh(space_.default_config());
  if (parents.empty() || move.kind == MoveKind::submitted) return std::nullopt;
  const Config& parent = parents.front();
  Rng rng = stream(move, parents);

  if (move.kind == MoveKind::recombine) {
    constexpr int attempts = 8;
    for (int attempt = 0; attempt < attempts && parents.size() > 1; ++attempt) {
      Config child = parent;
      for (std::size_t i = 0; i < child.indices.size(); ++i)
        child.indices[i] = parents[rng.below(parents.size())].indices[i];
      if (!space_.contains(child)) child = space_.nearest(child);
      if (auto found = fresh(std::move(child))) return found;
    }
    return std::nullopt;
  }
  if (move.kind == MoveKind::ablate) {
    Config child = parent;
    for (const std::string& name : move.strategies)
      if (const Group* group = find(name))
        for (const std::size_t i : group->tunables) child.indices[i] = space_.default_config().indices[i];
    return fresh(std::move(child));
  }

  std::vector<Config> options;
  if (move.strategies.empty()) {  // repair it, or choose for me
    options = space_.neighbours(parent, Neighbourhood::hamming);
    rng.shuffle(options);
  } else if (move.strategies.size() == 1) {
    const Group* group = find(move.strategies.front());
    if (group == nullptr) return std::nullopt;
    options = alternatives(parent, *group, rng);
  } else {
    Group all{{}, {}};
    for (const std::string& name : move.strategies)
      if (const Group* group = find(name))
        all.tunables.insert(all.tunables.end(), group->tunables.begin(), group->tunables.end());
    std::sort(all.tunables.begin(), all.tunables.end());
    all.tunables.erase(std::unique(all.tunables.begin(), all.tunables.end()), all.tunables.end());
    options = alternatives(parent, all, rng);
  }
  for (std::size_t i = 0; i < options.size(); ++i)
    if (auto found = fresh(options[(i + move.variant) % options.size()])) return found;
  return std::nullopt;
}

}  // namespace kernelsearch
