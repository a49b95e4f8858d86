// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <utility>

#include "kernelsearch/policy/greedy_search.hpp"

namespace kernelsearch {

KERNELSEARCH_INLINE GreedySearch::GreedySearch(Space space, GreedySearchOptions options)
    : ledger_(std::move(space), options.seed, options.default_first),
      options_(options),
      rng_(Rng::stream(options.seed, "greedy_search")),
      starts_(std::max<std::size_t>(options.starts, 1)) {}

KERNELSEARCH_INLINE std::vector<Config> GreedySearch::ask(std::size_t n) {
  return ledger_.propose(n, [this] { return next(); });
}

KERNELSEARCH_INLINE std::optional<Config> GreedySearch::next() {
  while (!starts_.pending()) {
    while (!queue_.empty()) {
      Config config = std::move(queue_.back());
      queue_.pop_back();
      if (!ledger_.known(config)) return config;
    }
    if (ledger_.outstanding() > 0) return std::nullopt;  // the best neighbour may be among them
    climb();
    if (!queue_.empty()) continue;
    starts_.begin_afresh();
  }
  starts_.use();
  std::optional<Config> config = ledger_.random();
  if (!config) starts_.hold();  // nothing unknown is left, now or later
  return config;
}

KERNELSEARCH_INLINE void GreedySearch::climb() {
  if (!centre_ && start_) set_centre(std::exchange(start_, std::nullopt)->config);
  // Along known neighbours for nothing, until a neighbourhood has unknown ones or none is better.
  while (centre_ && queue_.empty()) {
    detail::Known best{*centre_, ledger_.result(*centre_).value_or(std::numeric_limits<double>::infinity())};
    for (const Config& config : around_) {
      const std::optional<double> result = ledger_.result(config);
      if (result && *result < best.objective) best = {config, *result};
    }
    if (best.config == *centre_)
      centre_.reset();
    else
      set_centre(std::move(best.config));
  }
}

KERNELSEARCH_INLINE void GreedySearch::set_centre(Config config) {
  around_ = ledger_.neighbours(config, options_.neighbourhood, rng_);
  centre_ = std::move(config);
  queue_ = around_;
  std::erase_if(queue_, [this](const Config& neighbour) { return ledger_.known(neighbour); });
  rng_.shuffle(queue_);
}

KERNELSEARCH_INLINE void GreedySearch::tell(std::span<const Observation<Config>> batch) {
  for (const Observation<Config>& observation : batch) {
    const bool first = ledger_.record(observation);
    if (!starts_.admit(observation, first, ledger_)) continue;
    const double objective = observation.outcome.objective;
    if (centre_) {
      const bool own = observation.outcome.origin.has_value();
      const std::optional<double> here = ledger_.result(*centre_);
      if (!own && objective < here.value_or(std::numeric_limits<double>::infinity()))
        set_centre(observation.proposal);
    } else if (!start_ || objective < start_->objective) {
      start_ = detail::Known{observation.proposal, objective};
    } else if (start_->config == observation.proposal) {
      start_->objective = objective;
    }
  }
}

}  // namespace kernelsearch
