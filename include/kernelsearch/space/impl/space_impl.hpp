// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <string>
#include <utility>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/core/impl/text.hpp"
#include "kernelsearch/core/nearest.hpp"
#include "kernelsearch/space/impl/checksum_impl.hpp"
#include "kernelsearch/space/impl/listed_impl.hpp"
#include "kernelsearch/space/impl/space_build_impl.hpp"
#include "kernelsearch/space/impl/space_data.hpp"
#include "kernelsearch/space/impl/steps_impl.hpp"
#include "kernelsearch/space/impl/trie_impl.hpp"
#include "kernelsearch/space/space.hpp"

namespace kernelsearch {
namespace detail {

/// The edge of `node` that holds rank `rank`, which becomes the rank below it.
inline std::uint32_t edge_of_rank(const Trie& trie, std::uint32_t node, std::uint64_t& rank) noexcept {
  const std::uint64_t* before = trie.before.data();
  std::uint32_t low = trie.begin[node], high = trie.begin[node + 1];
  while (high - low > 8) {
    const std::uint32_t middle = low + (high - low) / 2;
    (before[middle] <= rank ? low : high) = middle;
  }
  while (low + 1 < high && before[low + 1] <= rank) ++low;
  rank -= before[low];
  return low;
}

inline void descend(const Trie& trie, std::uint64_t rank, Config& config) noexcept {
  std::uint32_t node = trie.root;
  for (const std::uint32_t tunable : trie.tunables) {
    const std::uint32_t edge = edge_of_rank(trie, node, rank);
    config.indices[tunable] = trie.value[edge];
    node = trie.child[edge];
  }
}

inline void descend(const Trie& trie, BigCount rank, Config& config) {
  if (trie.small) return descend(trie, rank.low(), config);
  std::uint32_t node = trie.root;
  for (const std::uint32_t tunable : trie.tunables) {
    const auto first = trie.big_before.begin() + trie.begin[node];
    const auto last = trie.big_before.begin() + trie.begin[node + 1];
    const auto edge = std::upper_bound(first, last, rank) - 1;
    rank -= *edge;
    const auto at = static_cast<std::size_t>(edge - trie.big_before.begin());
    config.indices[tunable] = trie.value[at];
    node = trie.child[at];
  }
}

/// The edges that `config` takes from the root, or false where it leaves the trie.
inline bool walk(const Trie& trie, const Config& config, std::vector<std::uint32_t>& edges) {
  edges.clear();
  std::uint32_t node = trie.root;
  for (const std::uint32_t tunable : trie.tunables) {
    const std::uint32_t edge = trie.edge(node, config.indices[tunable]);
    if (edge == Trie::none) return false;
    edges.push_back(edge);
    node = trie.child[edge];
  }
  return true;
}

/// Whether `config` continues from `node` at `level` to the end.
inline bool continues(const Trie& trie, const Config& config, std::uint32_t node, std::size_t level) {
  for (; level < trie.tunables.size(); ++level) {
    const std::uint32_t edge = trie.edge(node, config.indices[trie.tunables[level]]);
    if (edge == Trie::none) return false;
    node = trie.child[edge];
  }
  return true;
}

/// Whether position `to` is a step from `from` in the sense of Neighbourhood::adjacent.
inline bool adjacent(const SpaceData& data, std::size_t tunable, std::uint32_t from, std::uint32_t to) {
  const Tunable& t = data.tunables[tunable];
  if (t.kind == TunableKind::permutation) {
    return one_swap(std::get<Permutation>(t.values[from]), std::get<Permutation>(t.values[to]));
  }
  const std::vector<std::uint32_t>& usable = data.usable[tunable];
  const auto a = std::lower_bound(usable.begin(), usable.end(), from),
             b = std::lower_bound(usable.begin(), usable.end(), to);
  return a - b == 1 || b - a == 1;
}

}  // namespace detail

KERNELSEARCH_INLINE Space Space::without_tunables() {
  return build({});
}

KERNELSEARCH_INLINE Result<Space> Space::try_build(std::vector<Tunable> tunables,
                                                   std::vector<Constraint> constraints,
                                                   SpaceOptions options) {
  auto data = detail::build_space(std::move(tunables), std::move(constraints), options);
  if (!data) return std::move(data).error();
  return Space(*std::move(data));
}

KERNELSEARCH_INLINE Space Space::build(std::vector<Tunable> tunables, std::vector<Constraint> constraints,
                                       SpaceOptions options) {
  return detail::value_or_raise(try_build(std::move(tunables), std::move(constraints), options));
}

KERNELSEARCH_INLINE Space Space::listed(std::vector<Tunable> tunables, std::vector<Config> configs,
                                        std::vector<Constraint> constraints, std::string_view label) {
  return Space(detail::list_space(std::move(tunables), std::move(configs), std::move(constraints), label));
}

KERNELSEARCH_INLINE Space Space::with_default(const Config& config) const {
  if (!contains(config))
    detail::raise<ConfigError>("only a valid configuration can be the default",
                               config.indices.size() == size() ? key(config) : "one of another space",
                               "ask contains() first");
  auto data = std::make_shared<detail::SpaceData>(*data_);
  data->default_config = config;
  for (std::size_t i = 0; i < size(); ++i)  // conditional ones are pinned to what was declared
    if (!data->tunables[i].active_if) data->tunables[i].default_index = config.indices[i];
  return Space(std::move(data));
}

KERNELSEARCH_INLINE std::size_t Space::size() const noexcept {
  return data_->tunables.size();
}
KERNELSEARCH_INLINE std::span<const Tunable> Space::tunables() const noexcept {
  return data_->tunables;
}
KERNELSEARCH_INLINE std::span<const Constraint> Space::constraints() const noexcept {
  return data_->constraints;
}
KERNELSEARCH_INLINE const BigCount& Space::count() const noexcept {
  return data_->count;
}
KERNELSEARCH_INLINE const BigCount& Space::raw_count() const noexcept {
  return data_->raw_count;
}
KERNELSEARCH_INLINE const Config& Space::default_config() const noexcept {
  return data_->default_config;
}
KERNELSEARCH_INLINE double Space::build_seconds() const noexcept {
  return data_->build_seconds;
}

KERNELSEARCH_INLINE const Tunable& Space::tunable(std::size_t i) const {
  if (i >= size()) {
    detail::raise<ConfigError>("no such tunable", std::to_string(i) + " of " + std::to_string(size()),
                               "use an index below size()");
  }
  return data_->tunables[i];
}

KERNELSEARCH_INLINE std::optional<std::size_t> Space::find(std::string_view name) const {
  const auto found = data_->by_name.find(std::string(name));
  if (found == data_->by_name.end()) return std::nullopt;
  return found->second;
}

KERNELSEARCH_INLINE bool Space::contains(const Config& config) const {
  if (config.indices.size() != size()) return false;
  for (std::size_t i = 0; i < size(); ++i) {
    if (data_->group_of[i] == detail::Trie::none && config.indices[i] != data_->fixed.indices[i])
      return false;
  }
  return std::all_of(data_->tries.begin(), data_->tries.end(),
                     [&](const detail::Trie& trie) { return detail::continues(trie, config, trie.root, 0); });
}

KERNELSEARCH_INLINE Config Space::unrank(const BigCount& rank) const {
  if (rank >= count()) {
    detail::raise<ConfigError>("no configuration has this rank", rank.to_string(),
                               "use one below " + count().to_string());
  }
  Config config = data_->fixed;
  BigCount rest = rank;
  for (auto trie = data_->tries.rbegin(); trie != data_->tries.rend(); ++trie) {
    auto [quotient, own] = BigCount::divide(rest, trie->count);
    detail::descend(*trie, std::move(own), config);
    rest = std::move(quotient);
  }
  return config;
}

KERNELSEARCH_INLINE BigCount Space::rank(const Config& config) const {
  if (!contains(config)) {
    detail::raise<ConfigError>("only a valid configuration has a rank",
                               config.indices.size() == size() ? key(config) : "one of another space",
                               "ask contains() first");
  }
  BigCount rank;
  std::vector<std::uint32_t> edges;
  for (const detail::Trie& trie : data_->tries) {
    detail::walk(trie, config, edges);
    rank *= trie.count;
    for (const std::uint32_t edge : edges)
      rank += trie.small ? BigCount(trie.before[edge]) : trie.big_before[edge];
  }
  return rank;
}

KERNELSEARCH_INLINE void Space::sample(Rng& rng, Config& config) const {
  config.indices.assign(data_->fixed.indices.begin(), data_->fixed.indices.end());
  for (const detail::Trie& trie : data_->tries) {
    if (trie.small) {
      detail::descend(trie, rng.below(trie.small_count), config);
    } else {
      detail::descend(trie, BigCount::draw_below(rng, trie.count), config);
    }
  }
}

KERNELSEARCH_INLINE Config Space::sample(Rng& rng) const {
  Config config;
  sample(rng, config);
  return config;
}

KERNELSEARCH_INLINE std::vector<Config> Space::neighbours(const Config& config,
                                                          Neighbourhood neighbourhood) const {
  std::vector<Config> found;
  if (!contains(config)) return found;
  std::vector<std::uint32_t> edges;
  for (std::size_t i = 0; i < size(); ++i) {
    if (data_->group_of[i] == detail::Trie::none) continue;
    const detail::Trie& trie = data_->tries[data_->group_of[i]];
    const std::size_t level = data_->level_of[i];
    detail::walk(trie, config, edges);
    const std::uint32_t node = level == 0 ? trie.root : trie.child[edges[level - 1]];
    for (std::uint32_t edge = trie.begin[node]; edge < trie.begin[node + 1]; ++edge) {
      const std::uint32_t from = config.indices[i], to = trie.value[edge];
      if (to == from) continue;
      if (neighbourhood == Neighbourhood::adjacent && !detail::adjacent(*data_, i, from, to)) continue;
      if (!detail::continues(trie, config, trie.child[edge], level + 1)) continue;
      found.push_back(config);
      found.back().indices[i] = to;
    }
  }
  return found;
}

KERNELSEARCH_INLINE Config Space::nearest(const Config& config) const {
  if (config.indices.size() != size()) {
    detail::raise<ConfigError>("the configuration is one of another space",
                               std::to_string(config.indices.size()) + " tunables",
                               "use the space that made it");
  }
  return detail::nearest_config(*data_, config);
}

KERNELSEARCH_INLINE std::span<const std::uint32_t> Space::usable(std::size_t i) const {
  (void)tunable(i);
  return data_->usable[i];
}

KERNELSEARCH_INLINE const Value& Space::value(const Config& config, std::string_view name) const {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < size(); ++i) {
    if (tunable(i).name == name) return value(config, i);
    names.push_back(tunable(i).name);
  }
  const std::string nearest = nearest_name(name, names);
  detail::raise<ConfigError>(
      "the space has no such tunable", name,
      nearest.empty() ? "it has: " + detail::joined(names, ", ") : "did you mean " + nearest + "?");
}

KERNELSEARCH_INLINE const Value& Space::value(const Config& config, std::size_t i) const {
  const std::vector<Value>& values = tunable(i).values;
  if (config.indices.size() != size() || config.indices[i] >= values.size()) {
    detail::raise<ConfigError>("the configuration is one of another space", "no value for " + tunable(i).name,
                               "use the space that made it");
  }
  return values[config.indices[i]];
}

KERNELSEARCH_INLINE std::vector<Value> Space::values(const Config& config) const {
  std::vector<Value> out;
  out.reserve(size());
  for (std::size_t i = 0; i < size(); ++i) out.push_back(value(config, i));
  return out;
}

KERNELSEARCH_INLINE std::optional<Config> Space::config_of(std::span<const Value> values) const {
  if (values.size() != size()) return std::nullopt;
  Config config;
  for (std::size_t i = 0; i < size(); ++i) {
    const std::optional<std::size_t> at = data_->tunables[i].position(values[i]);
    if (!at) return std::nullopt;
    config.indices.push_back(static_cast<std::uint32_t>(*at));
  }
  return config;
}

KERNELSEARCH_INLINE std::string Space::key(const Config& config) const {
  std::string text;
  for (std::size_t i = 0; i < size(); ++i) {
    if (i != 0) text += ',';
    text += to_string(value(config, i));
  }
  return text;
}

KERNELSEARCH_INLINE void Space::visit(void* context, bool (*f)(void*, const Config&)) const {
  // An odometer over the paths of all tries, the last one turning fastest, as in the order of rank.
  struct Digit {
    const detail::Trie* trie;
    std::uint32_t tunable;
    std::size_t above;  // digit of the level above, or itself where this is a root
    std::uint32_t edge = 0;
  };
  std::vector<Digit> digits;
  for (const detail::Trie& trie : data_->tries) {
    for (std::size_t level = 0; level < trie.tunables.size(); ++level) {
      digits.push_back({&trie, trie.tunables[level], digits.size() - (level == 0 ? 0 : 1)});
    }
  }
  Config config = data_->fixed;
  const auto node_of = [&](std::size_t i) {
    const Digit& digit = digits[i];
    return digit.above == i ? digit.trie->root : digit.trie->child[digits[digit.above].edge];
  };
  const auto set = [&](std::size_t i, std::uint32_t edge) {
    digits[i].edge = edge;
    config.indices[digits[i].tunable] = digits[i].trie->value[edge];
  };
  const auto restart = [&](std::size_t from) {
    for (std::size_t i = from; i < digits.size(); ++i) set(i, digits[i].trie->begin[node_of(i)]);
  };
  restart(0);
  while (f(context, config)) {
    std::size_t i = digits.size();
    while (i-- > 0) {
      if (digits[i].edge + 1 < digits[i].trie->begin[node_of(i) + 1]) break;
    }
    if (i == static_cast<std::size_t>(-1)) return;
    set(i, digits[i].edge + 1);
    restart(i + 1);
  }
}

KERNELSEARCH_INLINE std::optional<std::uint64_t> Space::try_checksum() const {
  return detail::space_checksum(*this);
}

KERNELSEARCH_INLINE std::uint64_t Space::checksum() const {
  const std::optional<std::uint64_t> sum = try_checksum();
  if (!sum) {
    detail::raise<ConfigError>(
        "the checksum is out of reach",
        count().to_string() + " configurations whose tunables are declared in mixed order",
        "use try_checksum()");
  }
  return *sum;
}

KERNELSEARCH_INLINE std::size_t Space::memory_bytes() const noexcept {
  std::size_t total = sizeof(detail::SpaceData) + data_->count.heap_bytes() + data_->raw_count.heap_bytes();
  for (const Tunable& tunable : data_->tunables) {
    total += sizeof(Tunable) + tunable.name.capacity() + tunable.values.capacity() * sizeof(Value);
  }
  for (const detail::Trie& trie : data_->tries) total += trie.bytes();
  for (const auto& usable : data_->usable)
    total += sizeof(usable) + usable.capacity() * sizeof(std::uint32_t);
  total += (data_->group_of.capacity() + data_->level_of.capacity()) * sizeof(std::uint32_t);
  return total;
}

KERNELSEARCH_INLINE std::vector<Space::Group> Space::groups() const {
  std::vector<Group> groups;
  for (const detail::Trie& trie : data_->tries) {
    groups.push_back({{trie.tunables.begin(), trie.tunables.end()}, trie.count, trie.node_count() - 1});
  }
  return groups;
}

}  // namespace kernelsearch
