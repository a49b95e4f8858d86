// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cmath>
#include <utility>

#include "kernelsearch/policy/differential_evolution.hpp"

namespace kernelsearch {

KERNELSEARCH_INLINE DifferentialEvolution::DifferentialEvolution(Space space,
                                                                 DifferentialEvolutionOptions options)
    : ledger_(std::move(space), options.seed, options.default_first),
      options_(options),
      rng_(Rng::stream(options.seed, "differential_evolution")),
      starts_(std::max<std::size_t>(options.population, 4)) {}

KERNELSEARCH_INLINE std::vector<Config> DifferentialEvolution::ask(std::size_t n) {
  return ledger_.propose(n, [this] { return next(); });
}

KERNELSEARCH_INLINE std::optional<Config> DifferentialEvolution::next() {
  if (starts_.pending() || members_.size() < 4) {
    starts_.use();
    return ledger_.random();
  }
  const std::size_t target = turn_++ % members_.size();
  // Three others, all different; the base may be the best instead.
  std::size_t chosen[3];
  for (std::size_t i = 0; i < 3; ++i) {
    do chosen[i] = rng_.below(members_.size());
    while (chosen[i] == target || std::find(chosen, chosen + i, chosen[i]) != chosen + i);
  }
  if (rng_.chance(options_.greed))
    for (std::size_t i = 0; i < members_.size(); ++i)
      if (members_[i].objective < members_[chosen[0]].objective) chosen[0] = i;
  const Config &base = members_[chosen[0]].config, &plus = members_[chosen[1]].config,
               &minus = members_[chosen[2]].config;
  Config trial = members_[target].config;
  const auto free = ledger_.free();
  const std::size_t always = free.empty() ? 0 : free[rng_.below(free.size())];
  for (const std::size_t i : free)
    if (i == always || rng_.chance(options_.crossover))
      trial.indices[i] = mutated(i, base.indices[i], plus.indices[i], minus.indices[i]);
  std::optional<Config> repaired = ledger_.repair(std::move(trial), rng_);
  if (repaired) targets_[*repaired] = target;
  return repaired;
}

KERNELSEARCH_INLINE std::uint32_t DifferentialEvolution::mutated(std::size_t tunable, std::uint32_t a,
                                                                 std::uint32_t b, std::uint32_t c) {
  if (b == c) return a;
  const TunableKind kind = ledger_.space().tunable(tunable).kind;
  if (kind == TunableKind::boolean || kind == TunableKind::categorical || kind == TunableKind::permutation) {
    if (!rng_.chance(options_.weight)) return a;
    return rng_.chance(0.5) ? b : c;
  }
  const auto usable = ledger_.space().usable(tunable);
  const auto place = [&](std::uint32_t at) {
    return static_cast<double>(std::lower_bound(usable.begin(), usable.end(), at) - usable.begin());
  };
  const double wish = place(a) + options_.weight * (place(b) - place(c));
  const double floor = std::floor(wish);
  const double rounded = floor + (rng_.chance(wish - floor) ? 1.0 : 0.0);
  return usable[static_cast<std::size_t>(std::clamp(rounded, 0.0, static_cast<double>(usable.size() - 1)))];
}

KERNELSEARCH_INLINE void DifferentialEvolution::begin_afresh() {
  members_.clear();
  targets_.clear();
  starts_.begin_afresh();
}

KERNELSEARCH_INLINE void DifferentialEvolution::tell(std::span<const Observation<Config>> batch) {
  const auto better = [](const detail::Known& a, const detail::Known& b) {
    return a.objective < b.objective;
  };
  for (const Observation<Config>& observation : batch) {
    const bool first = ledger_.record(observation);
    if (!starts_.admit(observation, first, ledger_)) continue;
    const detail::Known told{observation.proposal, *ledger_.result(observation.proposal)};
    if (!first) {
      for (detail::Known& member : members_)
        if (member.config == told.config) member.objective = told.objective;
      continue;
    }
    const auto target = targets_.find(told.config);
    if (target != targets_.end()) {
      detail::Known& member = members_[target->second];
      if (told.objective <= member.objective) member = told;
      targets_.erase(target);
    } else if (members_.size() < std::max<std::size_t>(options_.population, 4)) {
      members_.push_back(told);
    } else {
      const auto worst = std::max_element(members_.begin(), members_.end(), better);
      if (told.objective < worst->objective) *worst = told;
    }
    if (stagnation_.note(told.objective, options_.patience)) begin_afresh();
  }
}

}  // namespace kernelsearch
