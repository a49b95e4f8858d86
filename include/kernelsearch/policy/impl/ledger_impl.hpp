// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cmath>
#include <unordered_set>
#include <utility>

#include "kernelsearch/policy/impl/ledger.hpp"
#include "kernelsearch/space/impl/steps_impl.hpp"

namespace kernelsearch::detail {

KERNELSEARCH_INLINE Ledger::Ledger(Space space, std::uint64_t seed, bool default_first)
    : space_(space), random_(std::move(space), {.seed = seed, .default_first = default_first}) {
  for (std::size_t i = 0; i < space_.size(); ++i) {
    if (space_.usable(i).size() < 2) continue;
    free_.push_back(i);
    steps_ += space_.usable(i).size() - 1;
  }
}

KERNELSEARCH_INLINE std::optional<double> Ledger::result(const Config& config) const {
  const auto found = results_.find(config);
  if (found == results_.end() || std::isnan(found->second)) return std::nullopt;
  return found->second;
}

KERNELSEARCH_INLINE double Ledger::value(const Config& config) const {
  return result(config).value_or(std::numeric_limits<double>::infinity());
}

KERNELSEARCH_INLINE void Ledger::propose(const Config& config) {
  results_.emplace(config, pending);
  outstanding_.insert(proposals_.size());
  proposals_.push_back(config);
}

KERNELSEARCH_INLINE bool Ledger::note(const Config& config, double objective) {
  const auto [entry, unknown] = results_.emplace(config, objective);
  const bool first = unknown || std::isnan(entry->second);
  entry->second = objective;
  if (first) told_.push_back(config);
  return first;
}

KERNELSEARCH_INLINE bool Ledger::record(const Observation<Config>& observation) {
  constexpr double failed = std::numeric_limits<double>::infinity();
  const Outcome& outcome = observation.outcome;
  const double objective = outcome.ok() && !std::isnan(outcome.objective) ? outcome.objective : failed;
  const bool first = note(observation.proposal, objective);
  if (outcome.origin) {
    const std::uint64_t id = number(outcome.origin->proposal);
    outstanding_.erase(id);
    if (id < proposals_.size() && !result(proposals_[id])) note(proposals_[id], failed);
  }
  const bool was_best = best_ && best_->config == observation.proposal;
  if (was_best && objective > best_->objective) {
    find_best();
  } else if (objective < (best_ ? best_->objective : std::numeric_limits<double>::infinity())) {
    best_ = Known{observation.proposal, objective};
  }
  return first;
}

KERNELSEARCH_INLINE void Ledger::find_best() {
  best_.reset();
  for (const auto& [config, objective] : results_) {
    if (std::isnan(objective) || std::isinf(objective)) continue;
    // The order of a hash table is not to decide between equals.
    const bool better =
        !best_ || objective < best_->objective || (!(best_->objective < objective) && config < best_->config);
    if (better) best_ = Known{config, objective};
  }
}

KERNELSEARCH_INLINE std::optional<Config> Ledger::random() {
  while (true) {
    std::vector<Config> drawn = random_.ask(1);
    if (drawn.empty()) return std::nullopt;
    if (!known(drawn.front())) return std::move(drawn.front());
  }
}

KERNELSEARCH_INLINE std::optional<Config> Ledger::repair(Config wish, Rng& rng) {
  if (!space_.contains(wish)) wish = space_.nearest(wish);
  if (!known(wish)) return wish;
  return near(std::move(wish), rng);
}

KERNELSEARCH_INLINE std::optional<Config> Ledger::near(Config from, Rng& rng) {
  constexpr int walk = 6, draws = 16;
  for (int step = 0; step < walk && !free_.empty(); ++step) {
    for (int draw = 0; draw < draws; ++draw) {
      Config config = drawn_step(from, Neighbourhood::hamming, rng);
      if (!known(config) && space_.contains(config)) return config;
    }
    std::vector<Config> around = neighbours(from, Neighbourhood::hamming, rng);
    if (around.empty()) break;
    Config onwards = around[rng.below(around.size())];
    std::erase_if(around, [this](const Config& config) { return known(config); });
    if (!around.empty()) return std::move(around[rng.below(around.size())]);
    from = std::move(onwards);
  }
  return random();
}

KERNELSEARCH_INLINE std::vector<Config> Ledger::neighbours(const Config& from, Neighbourhood neighbourhood,
                                                           Rng& rng) const {
  constexpr std::size_t listed = 4096, drawn = 1024;  // beyond which listing takes longer than it is worth
  if (steps_ <= listed) {
    std::vector<Config> all = space_.neighbours(from, Neighbourhood::hamming);
    if (neighbourhood == Neighbourhood::adjacent)
      std::erase_if(all, [&](const Config& config) { return !adjacent(from, config); });
    return all;
  }
  std::vector<Config> found;
  std::unordered_set<Config> seen;
  for (std::size_t draw = 0; draw < drawn; ++draw) {
    Config config = drawn_step(from, neighbourhood, rng);
    if (space_.contains(config) && seen.insert(config).second) found.push_back(std::move(config));
  }
  return found;
}

KERNELSEARCH_INLINE std::optional<Config> Ledger::neighbour(const Config& from, Neighbourhood neighbourhood,
                                                            Rng& rng) const {
  if (free_.empty()) return std::nullopt;
  constexpr int draws = 32;  // then valid ones are rare and listing finds them sooner
  for (int draw = 0; draw < draws; ++draw) {
    Config config = drawn_step(from, neighbourhood, rng);
    if (space_.contains(config)) return config;
  }
  std::vector<Config> around = neighbours(from, neighbourhood, rng);
  if (around.empty()) return std::nullopt;
  return std::move(around[rng.below(around.size())]);
}

KERNELSEARCH_INLINE bool Ledger::ordered(std::size_t tunable) const {
  constexpr std::size_t modes = 4;  // see the header; 3 to 5 did equally well on the development spaces
  const TunableKind kind = space_.tunable(tunable).kind;
  return space_.usable(tunable).size() > modes && kind != TunableKind::boolean &&
         kind != TunableKind::categorical && kind != TunableKind::permutation;
}

KERNELSEARCH_INLINE bool Ledger::adjacent(const Config& from, const Config& to) const {
  std::size_t tunable = 0;
  while (from.indices[tunable] == to.indices[tunable]) ++tunable;
  const std::uint32_t a = from.indices[tunable], b = to.indices[tunable];
  if (space_.tunable(tunable).kind == TunableKind::permutation) {
    const std::vector<Value>& values = space_.tunable(tunable).values;
    return one_swap(std::get<Permutation>(values[a]), std::get<Permutation>(values[b]));
  }
  if (!ordered(tunable)) return true;
  const auto usable = space_.usable(tunable);
  const auto low = std::lower_bound(usable.begin(), usable.end(), std::min(a, b));
  return low + 1 < usable.end() && *(low + 1) == std::max(a, b);
}

KERNELSEARCH_INLINE Config Ledger::drawn_step(const Config& from, Neighbourhood neighbourhood,
                                              Rng& rng) const {
  Config config = from;
  const std::size_t tunable = free_[rng.below(free_.size())];
  const auto usable = space_.usable(tunable);
  const auto here = static_cast<std::size_t>(
      std::lower_bound(usable.begin(), usable.end(), from.indices[tunable]) - usable.begin());
  std::size_t to = 0;
  if (neighbourhood == Neighbourhood::adjacent && ordered(tunable)) {
    const bool up = here == 0 || (here + 1 < usable.size() && rng.chance(0.5));
    to = up ? here + 1 : here - 1;
  } else {
    to = rng.below(usable.size() - 1);
    if (to >= here) ++to;
  }
  config.indices[tunable] = usable[to];
  return config;
}

}  // namespace kernelsearch::detail
