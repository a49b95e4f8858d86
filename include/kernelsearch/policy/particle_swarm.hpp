// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "kernelsearch/core/rng.hpp"
#include "kernelsearch/policy/impl/ledger.hpp"
#include "kernelsearch/policy/impl/starts.hpp"
#include "kernelsearch/policy/search_policy.hpp"
#include "kernelsearch/space/space.hpp"

namespace kernelsearch {

/// Defaults: tuned together on the eight recorded development spaces, see docs/benchmarks/space_policies.md.
struct ParticleSwarmOptions {
  std::uint64_t seed = 0;
  bool default_first = true;  ///< begin with the space's default configuration
  std::size_t particles = 12;
  double inertia = 0.7;        ///< share of its velocity that a particle keeps (w)
  double own = 1.5;            ///< pull of the best place that the particle itself found (c1)
  double common = 1.5;         ///< pull of the best place that its informants found (c2)
  std::size_t informants = 2;  ///< particles on either side of it in a ring; many: all of them
  /// Results in a row that do not improve the population before a fresh one; 0: never.
  std::size_t patience = 80;
};

/// Particle swarm optimisation (Kennedy and Eberhart, 1995; in a ring: Eberhart and Kennedy, 1995; inertia
/// weight: Shi and Eberhart, 1998): particles fly over the positions among the usable values, drawn to the
/// best places that they and their neighbours in a ring found. With all as informants it stands still too
/// early: P 0.37 instead of 0.53 on the development spaces.
///
/// Departures from the papers: a place is rounded, moved to the nearest valid configuration and, where that
/// is known, to an unknown neighbour of it; the particle then is where it was measured. The order of
/// categories and permutations means nothing, so along those a particle jumps to the value of what draws it.
/// Particles take turns and fly on while results are outstanding, so that it never waits; a swarm that stands
/// still makes room for a fresh one.
class ParticleSwarm {
 public:
  using Proposal = Config;

  explicit ParticleSwarm(Space space, ParticleSwarmOptions options = {});

  std::vector<Config> ask(std::size_t n);
  void tell(std::span<const Observation<Config>> batch);

 private:
  struct Particle {
    detail::Known best;
    std::vector<double> place;  ///< for each free tunable, counted in usable values
    std::vector<double> velocity;
  };
  [[nodiscard]] std::optional<Config> next();
  void begin_afresh();
  [[nodiscard]] double place_of(const Config& config, std::size_t tunable) const;
  [[nodiscard]] const Config& informed(std::size_t flier) const;
  void fly(Particle& particle, const Config& common);

  detail::Ledger ledger_;
  ParticleSwarmOptions options_;
  Rng rng_;
  std::vector<Particle> particles_;
  std::unordered_map<Config, std::size_t> fliers_;  ///< of what is outstanding
  detail::Starts starts_;
  detail::Stagnation stagnation_;
  std::size_t turn_ = 0;
};

}  // namespace kernelsearch

#if KERNELSEARCH_HEADER_ONLY
#  include "kernelsearch/policy/impl/particle_swarm_impl.hpp"
#endif
