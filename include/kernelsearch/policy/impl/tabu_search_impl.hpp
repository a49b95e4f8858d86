// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <utility>

#include "kernelsearch/policy/tabu_search.hpp"

namespace kernelsearch {

KERNELSEARCH_INLINE TabuSearch::TabuSearch(Space space, TabuSearchOptions options)
    : ledger_(std::move(space), options.seed, options.default_first),
      options_(options),
      rng_(Rng::stream(options.seed, "tabu_search")),
      starts_(std::max<std::size_t>(options.starts, 1)) {}

KERNELSEARCH_INLINE std::vector<Config> TabuSearch::ask(std::size_t n) {
  return ledger_.propose(n, [this] { return next(); });
}

KERNELSEARCH_INLINE std::optional<Config> TabuSearch::next() {
  if (starts_.pending()) {
    starts_.use();
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
  starts_.use();
  return current_ ? ledger_.near(*current_, rng_) : ledger_.random();
}

KERNELSEARCH_INLINE bool TabuSearch::tabu(const Config& config) const {
  return std::any_of(left_.begin(), left_.end(), [&](const Left& left) {
    return moves_ < left.until && config.indices[left.tunable] == left.value;
  });
}

KERNELSEARCH_INLINE void TabuSearch::move() {
  if (!best_) return;
  if (!current_) return stand(best_->config);
  if (moves_ - best_move_ > options_.patience) return begin_afresh();
  std::optional<detail::Known> to;
  for (const Config& config : around_) {
    const std::optional<double> result = ledger_.result(config);
    if (!result || stood_.contains(config)) continue;
    if (tabu(config) && config != best_->config) continue;
    if (!to || *result < to->objective) to = {config, *result};
  }
  if (!to) return begin_afresh();
  for (const std::size_t tunable : ledger_.free())
    if (to->config.indices[tunable] != current_->indices[tunable])
      left_.push_back({tunable, current_->indices[tunable], moves_ + options_.tenure});
  std::erase_if(left_, [this](const Left& left) { return left.until <= moves_; });
  stand(to->config);
}

KERNELSEARCH_INLINE void TabuSearch::begin_afresh() {
  starts_.begin_afresh();
  best_move_ = moves_;
  best_.reset();
  left_.clear();
  current_.reset();
  around_.clear();
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
    const bool first = ledger_.record(observation);
    if (!starts_.admit(observation, first, ledger_)) continue;
    const double objective = *ledger_.result(observation.proposal);
    if (!first && best_ && best_->config == observation.proposal) best_->objective = objective;
    if (!(objective < (best_ ? best_->objective : std::numeric_limits<double>::infinity()))) continue;
    best_ = {observation.proposal, objective};
    best_move_ = moves_;
    // A best from outside is where the walk goes on.
    if (!observation.outcome.origin && current_) stand(observation.proposal);
  }
}

}  // namespace kernelsearch
