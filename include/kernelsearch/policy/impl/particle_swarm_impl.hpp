// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cmath>
#include <utility>

#include "kernelsearch/policy/particle_swarm.hpp"

namespace kernelsearch {

KERNELSEARCH_INLINE ParticleSwarm::ParticleSwarm(Space space, ParticleSwarmOptions options)
    : ledger_(std::move(space), options.seed, options.default_first),
      options_(options),
      rng_(Rng::stream(options.seed, "particle_swarm")),
      starts_(std::max<std::size_t>(options.particles, 1)) {}

KERNELSEARCH_INLINE std::vector<Config> ParticleSwarm::ask(std::size_t n) {
  return ledger_.propose(n, [this] { return next(); });
}

KERNELSEARCH_INLINE std::optional<Config> ParticleSwarm::next() {
  if (starts_.pending() || particles_.empty() || ledger_.best() == nullptr) {
    starts_.use();
    return ledger_.random();
  }
  const std::size_t flier = turn_++ % particles_.size();
  Particle& particle = particles_[flier];
  const Config common = informed(flier);
  fly(particle, common);
  Config wish = particle.best.config;
  const auto free = ledger_.free();
  for (std::size_t i = 0; i < free.size(); ++i) {
    const auto usable = ledger_.space().usable(free[i]);
    wish.indices[free[i]] = usable[static_cast<std::size_t>(std::lround(particle.place[i]))];
  }
  std::optional<Config> repaired = ledger_.repair(std::move(wish), rng_);
  if (!repaired) return repaired;
  for (std::size_t i = 0; i < free.size(); ++i) particle.place[i] = place_of(*repaired, free[i]);
  fliers_[*repaired] = flier;
  return repaired;
}

KERNELSEARCH_INLINE const Config& ParticleSwarm::informed(std::size_t flier) const {
  const std::size_t count = particles_.size();
  const std::size_t reach = std::min(options_.informants, count - 1);
  const detail::Known* best = &particles_[flier].best;
  for (std::size_t distance = 1; distance <= reach; ++distance) {
    for (const std::size_t other : {flier + distance, flier + count - distance}) {
      const detail::Known& theirs = particles_[other % count].best;
      if (theirs.objective < best->objective) best = &theirs;
    }
  }
  return best->config;
}

KERNELSEARCH_INLINE void ParticleSwarm::fly(Particle& particle, const Config& common) {
  const auto free = ledger_.free();
  for (std::size_t i = 0; i < free.size(); ++i) {
    const double own_pull = options_.own * rng_.uniform(), common_pull = options_.common * rng_.uniform();
    const double here = particle.place[i], own = place_of(particle.best.config, free[i]),
                 shared = place_of(common, free[i]);
    const TunableKind kind = ledger_.space().tunable(free[i]).kind;
    if (kind == TunableKind::categorical || kind == TunableKind::permutation) {
      const double kept = options_.inertia;
      const double draw = rng_.uniform(0.0, kept + own_pull + common_pull);
      if (draw >= kept) particle.place[i] = draw < kept + own_pull ? own : shared;
      continue;
    }
    const double last = static_cast<double>(ledger_.space().usable(free[i]).size() - 1);
    double& velocity = particle.velocity[i];
    velocity = options_.inertia * velocity + own_pull * (own - here) + common_pull * (shared - here);
    velocity = std::clamp(velocity, -last, last);
    particle.place[i] = std::clamp(here + velocity, 0.0, last);
  }
}

KERNELSEARCH_INLINE double ParticleSwarm::place_of(const Config& config, std::size_t tunable) const {
  const auto usable = ledger_.space().usable(tunable);
  const auto at = std::lower_bound(usable.begin(), usable.end(), config.indices[tunable]);
  return static_cast<double>(std::min(at, usable.end() - 1) - usable.begin());
}

KERNELSEARCH_INLINE void ParticleSwarm::begin_afresh() {
  particles_.clear();
  fliers_.clear();
  starts_.begin_afresh();
}

KERNELSEARCH_INLINE void ParticleSwarm::tell(std::span<const Observation<Config>> batch) {
  for (const Observation<Config>& observation : batch) {
    const bool first = ledger_.record(observation);
    if (!starts_.admit(observation, first, ledger_)) continue;
    detail::Known told{observation.proposal, *ledger_.result(observation.proposal)};
    if (!first) {
      for (Particle& particle : particles_)
        if (particle.best.config == told.config) particle.best.objective = told.objective;
      continue;
    }
    const double objective = told.objective;
    const auto flier = fliers_.find(told.config);
    if (flier != fliers_.end()) {
      Particle& particle = particles_[flier->second];
      if (told.objective <= particle.best.objective) particle.best = std::move(told);
      fliers_.erase(flier);
    } else if (particles_.size() < std::max<std::size_t>(options_.particles, 1)) {
      Particle particle;
      for (const std::size_t tunable : ledger_.free()) {
        particle.place.push_back(place_of(told.config, tunable));
        const double last = static_cast<double>(ledger_.space().usable(tunable).size() - 1);
        particle.velocity.push_back(rng_.uniform(-0.5, 0.5) * last);
      }
      particle.best = std::move(told);
      particles_.push_back(std::move(particle));
    }
    if (stagnation_.note(objective, options_.patience)) begin_afresh();
  }
}

}  // namespace kernelsearch
