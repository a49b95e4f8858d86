// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "kernelsearch/core/objectives.hpp"
#include "kernelsearch/core/rng.hpp"
#include "kernelsearch/policy/impl/ledger.hpp"
#include "kernelsearch/policy/impl/starts.hpp"
#include "kernelsearch/policy/search_policy.hpp"
#include "kernelsearch/space/space.hpp"

namespace kernelsearch {

/// Defaults: those of GeneticAlgorithm, but for a tournament of two as in the paper.
struct Nsga2Options {
  std::uint64_t seed = 0;
  bool default_first = true;    ///< begin with the space's default configuration
  std::size_t population = 20;  ///< survivors; as many random points come first
  double crossover = 0.3;       ///< share of children with two parents
  double mutations = 0.6;       ///< tunables changed at random in a child, on average
  Objectives objectives = {};   ///< by name those of the run
};

/// NSGA-II (Deb, Pratap, Agarwal and Meyarivan, 2002): members are ordered by the front that they are in, and
/// within a front by how far apart from others they are (crowding), so that the population spreads along
/// the Pareto front. Losses are compared as they are, and not as the one number that other policies are told.
///
/// Departures from the paper: one child at a time replaces the worst member (steady state: Durillo, Nebro,
/// Luna and Alba, 2009), so that it never waits for stragglers; children are repaired and mutated as those of
/// GeneticAlgorithm; distances are between logarithms, since losses are ratios.
class Nsga2 {
 public:
  using Proposal = Config;

  explicit Nsga2(Space space, Nsga2Options options = {});

  std::vector<Config> ask(std::size_t n);
  void tell(std::span<const Observation<Config>> batch);

 private:
  struct Member {
    Config config;
    std::vector<double> losses;  ///< empty: it failed
    std::size_t front = 0;       ///< 0 is the Pareto front
    double crowding = 0.0;
  };

  [[nodiscard]] std::optional<Config> next();
  [[nodiscard]] const Config& parent();
  [[nodiscard]] std::vector<double> losses_of(const Outcome& outcome) const;
  void rank();
  [[nodiscard]] static bool before(const Member& a, const Member& b) noexcept;

  detail::Ledger ledger_;
  Nsga2Options options_;
  Rng rng_;
  std::vector<Member> members_;
  detail::Starts starts_;
};

static_assert(SearchPolicy<Nsga2>);

}  // namespace kernelsearch

#if KERNELSEARCH_HEADER_ONLY
#  include "kernelsearch/policy/impl/nsga2_impl.hpp"
#endif
