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
struct DifferentialEvolutionOptions {
  std::uint64_t seed = 0;
  bool default_first = true;  ///< begin with the space's default configuration
  std::size_t population = 20;
  double weight = 0.9;     ///< of the difference between two members (F)
  double crossover = 0.9;  ///< chance that a tunable takes the mutant's value (CR)
  double greed = 0.5;      ///< chance that the mutant is built on the best member, not on a random one
  /// Results in a row that do not improve the population before a fresh one; 0: never.
  std::size_t patience = 200;
};

/// Differential evolution (Storn and Price, 1997; rand/1/bin and best/1/bin mixed): a mutant, one member plus
/// the weighted difference of two others, is crossed with a target member and replaces it when faster.
///
/// Departures from the paper: differences are of positions among the usable values, rounded at random so that
/// small ones are not lost, and of unordered values taken as one of the three; what leaves the constraints
/// becomes the nearest valid configuration, what is known an unknown neighbour of itself. A population
/// that stands still makes room for a fresh one. Targets take turns, so that it never waits for stragglers.
class DifferentialEvolution {
 public:
  using Proposal = Config;

  explicit DifferentialEvolution(Space space, DifferentialEvolutionOptions options = {});

  std::vector<Config> ask(std::size_t n);
  void tell(std::span<const Observation<Config>> batch);

 private:
  [[nodiscard]] std::optional<Config> next();
  void begin_afresh();
  [[nodiscard]] std::uint32_t mutated(std::size_t tunable, std::uint32_t a, std::uint32_t b, std::uint32_t c);

  detail::Ledger ledger_;
  DifferentialEvolutionOptions options_;
  Rng rng_;
  std::vector<detail::Known> members_;
  std::unordered_map<Config, std::size_t> targets_;  ///< of what is outstanding
  detail::Starts starts_;
  detail::Stagnation stagnation_;
  std::size_t turn_ = 0;
};

}  // namespace kernelsearch

#if KERNELSEARCH_HEADER_ONLY
#  include "kernelsearch/policy/impl/differential_evolution_impl.hpp"
#endif
