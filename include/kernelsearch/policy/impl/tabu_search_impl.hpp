// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <utility>

#include "kernelsearch/policy/tabu_search.hpp"

namespace kernelsearch {

KERNELSEARCH_INLINE TabuSearch::TabuSearch(Space space, TabuSearchOptions options)
    : ledger_(std::move(space), options.seed),
      options_(options),
      rng_(Rng::stream(options.seed, "tabu_search")),
      starts_left_(std::max<std::size_t>(options.starts, 1)) {}

KERNELSEARCH_INLINE std::vector<Config> TabuSearch::ask(std::size_t n) {
  return ledger_.propose(n, [this] { return next(); });
}

KERNELSEARCH_INLINE std::optional<Config> TabuSearch::next() {
  if (starts_left_ > 0) {
    --starts_left_;
    return ledger_.random();
  }
  constexpr int free_moves = 16;  // among known neighbours only; then the surroundings are known
  for (int i = 0; i < free_moves; ++i) {
    while (!queue_.empty()) {
      Config config = std::move(queue_.back());
      queue_.pop_back();
      if (!ledger_.known(config)) return config;
    }
    if (ledger_.outstanding() > 0) return std::nullopt;  // the best neighbour may be among them
    move();
    if (!current_) break;
  }
  return current_ ? ledger_.near(*current_, rng_) : ledger_.random();
}

KERNELSEARCH_INLINE bool TabuSearch::tabu(const Config& config) const {
  return std::any_of(left_.begin(), left_.end(), [&](const Left& left) {
    return moves_ < left.until && config.indices[left.tunable] == left.value;
  });
}

KERNELSEARCH_INLINE void TabuSearch::move() {
  const detail::Known* best = ledger_.best();
  if (best == nullptr) return;
  if (!current_) return stand(best->config);
  if (moves_ - best_move_ > options_.patience) return leap();
  std::optional<detail::Known> to;
  for (const Config& config : around_) {
    const std::optional<double> result = ledger_.result(config);
    if (!result || stood_.contains(config)) continue;
    if (tabu(config) && config != best->config) continue;
    if (!to || *result < to->objective) to = {config, *result};
  }
  if (!to) return leap();
  for (const std::size_t tunable : ledger_.free())
    if (to->config.indices[tunable] != current_->indices[tunable])
      left_.push_back({tunable, current_->indices[tunable], moves_ + options_.tenure});
  std::erase_if(left_, [this](const Left& left) { return left.until <= moves_; });
  stand(to->config);
}

KERNELSEARCH_INLINE void TabuSearch::leap() {
  best_move_ = moves_;
  left_.clear();
  Config config = ledger_.best()->config;
  for (std::size_t step = 0; step < options_.leap; ++step)
    if (std::optional<Config> onwards = ledger_.neighbour(config, Neighbourhood::hamming, rng_))
      config = *std::move(onwards);
  stand(config);
  if (!ledger_.known(config)) queue_.push_back(std::move(config));
}

KERNELSEARCH_INLINE void TabuSearch::stand(Config config) {
  ++moves_;
  stood_.insert(config);
  around_ = ledger_.neighbours(config, options_.neighbourhood, rng_);
  rng_.shuffle(around_);
  queue_.clear();
  for (const Config& neighbour : around_) {
    if (queue_.size() == options_.candidates) break;
    if (!ledger_.known(neighbour) && !tabu(neighbour)) queue_.push_back(neighbour);
  }
  current_ = std::move(config);
}

KERNELSEARCH_INLINE void TabuSearch::tell(std::span<const Observation<Config>> batch) {
  for (const Observation<Config>& observation : batch) {
    if (!ledger_.hear(observation))  // a revision may have taken the best away
      best_ = ledger_.best() == nullptr ? std::numeric_limits<double>::infinity() : ledger_.best()->objective;
    if (ledger_.best() == nullptr || !(ledger_.best()->objective < best_)) continue;
    best_ = ledger_.best()->objective;
    best_move_ = moves_;
    // A foreign best is where the walk goes on.
    if (!observation.outcome.origin && current_) stand(ledger_.best()->config);
  }
}

}  // namespace kernelsearch
