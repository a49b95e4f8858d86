// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <utility>

#include "kernelsearch/policy/genetic_algorithm.hpp"
#include "kernelsearch/policy/impl/child.hpp"

namespace kernelsearch {

KERNELSEARCH_INLINE GeneticAlgorithm::GeneticAlgorithm(Space space, GeneticAlgorithmOptions options)
    : ledger_(std::move(space), options.seed, options.default_first),
      options_(options),
      rng_(Rng::stream(options.seed, "genetic_algorithm")),
      starts_(std::max<std::size_t>(options.population, 2)) {}

KERNELSEARCH_INLINE std::vector<Config> GeneticAlgorithm::ask(std::size_t n) {
  return ledger_.propose(n, [this] { return next(); });
}

KERNELSEARCH_INLINE std::optional<Config> GeneticAlgorithm::next() {
  if (starts_.pending() || members_.size() < 2) {
    starts_.use();
    return ledger_.random();
  }
  return detail::child(ledger_, rng_, options_.crossover, options_.mutations,
                       [this]() -> const Config& { return parent(); });
}

KERNELSEARCH_INLINE const Config& GeneticAlgorithm::parent() {
  const detail::Known* best = nullptr;
  for (std::size_t i = 0; i < std::max<std::size_t>(options_.tournament, 1); ++i) {
    const detail::Known& member = members_[rng_.below(members_.size())];
    if (best == nullptr || member.objective < best->objective) best = &member;
  }
  return best->config;
}

KERNELSEARCH_INLINE void GeneticAlgorithm::begin_afresh() {
  members_.clear();
  starts_.begin_afresh();
}

KERNELSEARCH_INLINE void GeneticAlgorithm::tell(std::span<const Observation<Config>> batch) {
  const auto better = [](const detail::Known& a, const detail::Known& b) {
    return a.objective < b.objective;
  };
  for (const Observation<Config>& observation : batch) {
    const bool first = ledger_.record(observation);
    if (!starts_.admit(observation, first, ledger_)) continue;
    const detail::Known told{observation.proposal, *ledger_.result(observation.proposal)};
    if (first) {
      members_.push_back(told);
      if (members_.size() > std::max<std::size_t>(options_.population, 2))
        members_.erase(std::max_element(members_.begin(), members_.end(), better));
      if (stagnation_.note(told.objective, options_.patience)) begin_afresh();
    } else {
      for (detail::Known& member : members_)
        if (member.config == told.config) member.objective = told.objective;
    }
  }
}

}  // namespace kernelsearch
