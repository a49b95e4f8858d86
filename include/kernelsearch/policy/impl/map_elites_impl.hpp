// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <tuple>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/policy/map_elites.hpp"

namespace kernelsearch {

KERNELSEARCH_INLINE MapElites::MapElites(MapElitesOptions options)
    : options_(std::move(options)),
      rng_(Rng::stream(options_.seed, "map_elites")),
      ledger_(options_.strategies, options_.limits),
      archives_(options_.islands),
      ranges_(options_.descriptors.size()) {
  if (options_.islands == 0)
    detail::raise<ConfigError>("MapElitesOptions has no islands", "0", "give at least 1");
  for (const EliteDescriptor& descriptor : options_.descriptors)
    if (descriptor.bins == 0)
      detail::raise<ConfigError>("a descriptor has no bins", descriptor.feature, "give at least 1");
}

KERNELSEARCH_INLINE std::vector<Move> MapElites::ask(std::size_t n) {
  return ledger_.ask(n, [this] { return choose(); });
}

KERNELSEARCH_INLINE MapElites::Cell MapElites::cell_of(std::size_t index) const {
  const TreeNode& node = ledger_.node(index);
  if (options_.descriptors.empty()) {
    constexpr std::size_t deepest = 7;
    return {std::min(depth_[index], deepest),
            ledger_.strategy_of(node.move.strategy()).value_or(ledger_.strategies())};
  }
  Cell cell;
  for (std::size_t d = 0; d < options_.descriptors.size(); ++d) {
    const std::size_t bins = options_.descriptors[d].bins;
    const std::optional<double> value = node.features.find(options_.descriptors[d].feature);
    if (!value) {
      cell.push_back(bins);
      continue;
    }
    const auto [low, high] = *ranges_[d];
    const double at = high > low ? (*value - low) / (high - low) : 0.0;
    cell.push_back(std::min(static_cast<std::size_t>(at * static_cast<double>(bins)), bins - 1));
  }
  return cell;
}

KERNELSEARCH_INLINE bool MapElites::better(std::size_t a, std::size_t b) const {
  const TreeNode &x = ledger_.node(a), &y = ledger_.node(b);
  return std::tuple(x.objective, -x.progress, a) < std::tuple(y.objective, -y.progress, b);
}

KERNELSEARCH_INLINE void MapElites::settle(std::size_t island, std::size_t index) {
  const auto [place, fresh] = archives_[island].try_emplace(cell_of(index), index);
  if (!fresh && better(index, place->second)) place->second = index;
}

KERNELSEARCH_INLINE void MapElites::take_in(std::size_t index) {
  const TreeNode& node = ledger_.node(index);
  const std::optional<std::size_t> parent = ledger_.tree().first_parent(index);
  // A late parent has a greater number than its child.
  home_.push_back(parent && *parent < index ? home_[*parent] : index % options_.islands);
  depth_.push_back(parent && *parent < index ? depth_[*parent] + 1 : 0);
  if (parent && node.move.kind != MoveKind::submitted && ledger_.node(*parent).move.kind == MoveKind::root)
    home_[index] = turn_ % options_.islands;  // the root lives on all islands; its children spread
  if (!node.generated()) return;

  bool stretched = false;
  for (std::size_t d = 0; d < options_.descriptors.size(); ++d)
    if (const auto value = node.features.find(options_.descriptors[d].feature)) {
      auto& range = ranges_[d];
      if (range && *value >= range->first && *value <= range->second) continue;
      range = range ? std::pair(std::min(range->first, *value), std::max(range->second, *value))
                    : std::pair(*value, *value);
      stretched = true;
    }
  const std::size_t before = inhabitants_.size();
  if (node.move.kind == MoveKind::root)
    for (std::size_t island = 0; island < options_.islands; ++island)
      inhabitants_.emplace_back(island, index);
  else
    inhabitants_.emplace_back(home_[index], index);
  if (stretched)
    rebuild();
  else
    for (std::size_t i = before; i < inhabitants_.size(); ++i) settle(inhabitants_[i].first, index);

  if (options_.migrate_every > 0 && ++since_migration_ >= options_.migrate_every) migrate();
}

KERNELSEARCH_INLINE void MapElites::migrate() {
  since_migration_ = 0;
  std::vector<std::pair<std::size_t, std::size_t>> migrants;
  for (std::size_t island = 0; island < options_.islands; ++island) {
    std::optional<std::size_t> best;
    for (const auto& [cell, elite] : archives_[island])
      if (!best || better(elite, *best)) best = elite;
    if (best) migrants.emplace_back((island + 1) % options_.islands, *best);
  }
  for (const auto& [island, node] : migrants) {
    inhabitants_.emplace_back(island, node);
    settle(island, node);
  }
}

KERNELSEARCH_INLINE void MapElites::rebuild() {
  for (auto& archive : archives_) archive.clear();
  for (const auto& [island, node] : inhabitants_) settle(island, node);
}

KERNELSEARCH_INLINE std::optional<Move> MapElites::choose() {
  for (std::size_t tries = 0; tries < options_.islands; ++tries) {
    const auto& archive = archives_[turn_++ % options_.islands];
    std::vector<std::size_t> elites;
    for (const auto& [cell, elite] : archive)
      if (ledger_.open(elite) || ledger_.can_debug(elite)) elites.push_back(elite);
    if (elites.empty()) continue;
    const std::size_t elite = elites[rng_.below(elites.size())];
    if (ledger_.can_debug(elite)) return ledger_.propose_debug(elite);
    if (options_.recombine > 0.0 && elites.size() > 1 && rng_.chance(options_.recombine))
      if (auto joined = ledger_.propose_recombination(elite, elites[rng_.below(elites.size())]))
        return joined;
    return ledger_.propose(elite, ledger_.least_tried(elite, rng_));
  }
  const std::optional<std::size_t> node = ledger_.best_expandable();
  if (!node) return std::nullopt;
  return ledger_.propose(*node, ledger_.least_tried(*node, rng_));
}

KERNELSEARCH_INLINE void MapElites::tell(std::span<const Observation<Move>> batch) {
  for (const Observation<Move>& observation : batch) {
    const std::size_t known = ledger_.tree().size();
    ledger_.tell(observation);
    if (ledger_.tree().size() > known)
      take_in(known);
    else
      rebuild();  // an elite may have been replaced
  }
}

}  // namespace kernelsearch
