// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cmath>
#include <utility>

#include "kernelsearch/policy/simulated_annealing.hpp"

namespace kernelsearch {

KERNELSEARCH_INLINE SimulatedAnnealing::SimulatedAnnealing(Space space, SimulatedAnnealingOptions options)
    : ledger_(std::move(space), options.seed, options.default_first),
      options_(options),
      rng_(Rng::stream(options.seed, "simulated_annealing")),
      starts_(std::max<std::size_t>(options.starts, 1)),
      temperature_(options.hot) {}

KERNELSEARCH_INLINE std::vector<Config> SimulatedAnnealing::ask(std::size_t n) {
  return ledger_.propose(n, [this] { return next(); });
}

KERNELSEARCH_INLINE std::optional<Config> SimulatedAnnealing::next() {
  if (starts_.pending() || !current_) {
    starts_.use();
    return ledger_.random();
  }
  cool();
  if (!current_) return next();
  constexpr int free_steps = 64;  // then the surroundings are known
  for (int step = 0; step < free_steps; ++step) {
    std::optional<Config> config = ledger_.neighbour(current_->config, options_.neighbourhood, rng_);
    if (!config) break;
    if (!ledger_.known(*config)) return config;
    const std::optional<double> result = ledger_.result(*config);
    if (result && accepts(*result)) current_ = {*std::move(config), *result};
  }
  return ledger_.near(current_->config, rng_);
}

KERNELSEARCH_INLINE void SimulatedAnnealing::cool() {
  const double steps = static_cast<double>(std::max<std::size_t>(options_.steps, 1));
  temperature_ *= std::pow(options_.cold / options_.hot, 1.0 / steps);
  if (temperature_ > options_.cold) return;
  temperature_ = options_.hot;
  starts_.begin_afresh();
  heard_ = 0;
  current_.reset();
}

KERNELSEARCH_INLINE double SimulatedAnnealing::spread() const {
  return successes_.empty() ? 0.0 : successes_[successes_.size() / 2] - successes_.front();
}

KERNELSEARCH_INLINE bool SimulatedAnnealing::accepts(double objective) {
  if (!current_ || objective <= current_->objective) return true;
  return rng_.chance(std::exp((current_->objective - objective) / (temperature_ * spread())));
}

KERNELSEARCH_INLINE void SimulatedAnnealing::tell(std::span<const Observation<Config>> batch) {
  for (const Observation<Config>& observation : batch) {
    const bool first = ledger_.record(observation);
    if (!starts_.admit(observation, first, ledger_)) continue;
    const double objective = observation.outcome.objective;
    if (!first) {
      if (current_ && current_->config == observation.proposal) current_->objective = objective;
      continue;
    }
    if (std::isfinite(objective))
      successes_.insert(std::lower_bound(successes_.begin(), successes_.end(), objective), objective);
    // The best of the first points, and a result from outside only where it is better.
    const bool starting = heard_++ < options_.starts || !observation.outcome.origin;
    if (starting ? !current_ || objective < current_->objective : accepts(objective))
      current_ = {observation.proposal, objective};
  }
}

}  // namespace kernelsearch
