// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "kernelsearch/core/rng.hpp"
#include "kernelsearch/policy/impl/ledger.hpp"
#include "kernelsearch/policy/impl/starts.hpp"
#include "kernelsearch/policy/search_policy.hpp"
#include "kernelsearch/space/space.hpp"

namespace kernelsearch {

/// Defaults: tuned together on the eight recorded development spaces, see docs/benchmarks/space_policies.md.
struct GeneticAlgorithmOptions {
  std::uint64_t seed = 0;
  bool default_first = true;    ///< begin with the space's default configuration
  std::size_t population = 20;  ///< survivors; as many random points come first
  std::size_t tournament = 4;   ///< how many compete to become a parent
  double crossover = 0.3;       ///< share of children with two parents
  double mutations = 0.6;       ///< tunables changed at random in a child, on average
  /// Results in a row that do not improve the population before a fresh one; 0: never.
  std::size_t patience = 80;
};

/// A genetic algorithm without generations (GENITOR: Whitley, 1989): two parents chosen by tournament
/// (Goldberg and Deb, 1991), uniform crossover (Syswerda, 1989), mutation; the child replaces the worst.
///
/// Departures from the papers: a child that leaves the constraints becomes the nearest valid configuration,
/// one that is known becomes an unknown neighbour of itself; so a population that has converged searches the
/// surroundings of its members. A population that stands still makes room for a fresh one.
/// Being without generations, it never waits for stragglers.
class GeneticAlgorithm {
 public:
  using Proposal = Config;

  explicit GeneticAlgorithm(Space space, GeneticAlgorithmOptions options = {});

  std::vector<Config> ask(std::size_t n);
  void tell(std::span<const Observation<Config>> batch);

 private:
  [[nodiscard]] std::optional<Config> next();
  void begin_afresh();
  [[nodiscard]] const Config& parent();

  detail::Ledger ledger_;
  GeneticAlgorithmOptions options_;
  Rng rng_;
  std::vector<detail::Known> members_;  ///< oldest first
  detail::Starts starts_;
  detail::Stagnation stagnation_;
};

}  // namespace kernelsearch

#if KERNELSEARCH_HEADER_ONLY
#  include "kernelsearch/policy/impl/genetic_algorithm_impl.hpp"
#endif
