// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>

#include "kernelsearch/policy/iterated_local_search.hpp"

namespace kernelsearch {

KERNELSEARCH_INLINE IteratedLocalSearch::IteratedLocalSearch(Space space, IteratedLocalSearchOptions options)
    : ledger_(std::move(space), options.seed, true),
      options_(options),
      rng_(Rng::stream(options.seed, "iterated_local_search")),
      launches_left_(std::max<std::size_t>(options.initial, 1)) {}

KERNELSEARCH_INLINE std::vector<Config> IteratedLocalSearch::ask(std::size_t n) {
  return ledger_.propose(n, [this] { return next(); });
}

KERNELSEARCH_INLINE std::optional<Config> IteratedLocalSearch::next() {
  if (launches_left_ > 0) {
    std::optional<Config> launch =
        incumbent_ && fruitless_ < options_.restart_after ? perturbed() : ledger_.random();
    --launches_left_;
    if (launch) return launch;
    launches_left_ = 0;
  }
  if (queue_stale_) refill_queue();
  while (!queue_.empty()) {
    Config config = std::move(queue_.back());
    queue_.pop_back();
    if (!ledger_.known(config)) return config;
  }
  if (ledger_.outstanding() > 0) return std::nullopt;  // what is in flight may move the centre

  // A local optimum: keep the better of it and the incumbent, and leap from there.
  if (centre_ && centre_objective_ < incumbent_objective_) {
    incumbent_ = centre_;
    incumbent_objective_ = centre_objective_;
    fruitless_ = 0;
  } else {
    ++fruitless_;
  }
  if (fruitless_ > options_.restart_after) fruitless_ = 0;
  centre_.reset();
  centre_objective_ = std::numeric_limits<double>::infinity();
  std::optional<Config> launch =
      incumbent_ && fruitless_ < options_.restart_after ? perturbed() : ledger_.random();
  return launch;
}

KERNELSEARCH_INLINE void IteratedLocalSearch::refill_queue() {
  queue_stale_ = false;
  queue_.clear();
  if (!centre_) return;
  queue_ = ledger_.space().neighbours(*centre_, options_.neighbourhood);
  std::erase_if(queue_, [this](const Config& config) { return ledger_.known(config); });
  rng_.shuffle(queue_);
  if (queue_.size() > options_.max_neighbours) queue_.resize(options_.max_neighbours);
}

KERNELSEARCH_INLINE std::optional<Config> IteratedLocalSearch::perturbed() {
  constexpr int attempts = 32;  // then the surroundings are used up
  for (int attempt = 0; attempt < attempts; ++attempt) {
    Config config = *incumbent_;
    for (std::size_t step = 0; step < options_.perturbation; ++step) {
      std::vector<Config> around = ledger_.space().neighbours(config, Neighbourhood::hamming);
      if (around.empty()) break;
      config = std::move(around[rng_.below(around.size())]);
    }
    if (!ledger_.known(config)) return config;
  }
  return ledger_.random();
}

KERNELSEARCH_INLINE void IteratedLocalSearch::observe(const Config& config, double objective) {
  if (incumbent_ && *incumbent_ == config) incumbent_objective_ = objective;  // measured again
  const bool again = centre_ && *centre_ == config;
  if (again) centre_objective_ = objective;
  if (again || !(objective < centre_objective_)) return;
  centre_ = config;
  centre_objective_ = objective;
  queue_stale_ = true;
}

KERNELSEARCH_INLINE void IteratedLocalSearch::tell(std::span<const Observation<Config>> batch) {
  for (const Observation<Config>& observation : batch) {
    ledger_.record(observation);
    observe(observation.proposal, observation.outcome.objective);
  }
}

}  // namespace kernelsearch
