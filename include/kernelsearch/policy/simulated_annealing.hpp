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
struct SimulatedAnnealingOptions {
  std::uint64_t seed = 0;
  bool default_first = true;  ///< begin with the space's default configuration
  std::size_t starts = 12;    ///< random points at first; the walk begins at the best of them
  double hot = 0.2;           ///< first temperature, in units of the spread of the results so far
  double cold = 0.03;         ///< last temperature, after which it begins afresh
  std::size_t steps = 80;     ///< proposals from hot to cold, cooling by a constant factor
  /// adjacent: also any value of a tunable that has at most four.
  Neighbourhood neighbourhood = Neighbourhood::hamming;
};

/// Simulated annealing (Kirkpatrick, Gelatt, Vecchi, 1983): a walk that always goes to a faster neighbour and
/// to a slower one with probability exp(-difference / temperature), ever less often as it cools.
///
/// Departures from the paper: the temperature counts in spreads (median less best of the successes so far),
/// so that one schedule fits every unit and every space; steps onto known configurations cost no proposal;
/// once cold it begins afresh, hot, at the best of new random points.
class SimulatedAnnealing {
 public:
  using Proposal = Config;

  explicit SimulatedAnnealing(Space space, SimulatedAnnealingOptions options = {});

  std::vector<Config> ask(std::size_t n);
  void tell(std::span<const Observation<Config>> batch);

 private:
  [[nodiscard]] std::optional<Config> next();
  [[nodiscard]] bool accepts(double objective);
  [[nodiscard]] double spread() const;
  void cool();

  detail::Ledger ledger_;
  SimulatedAnnealingOptions options_;
  Rng rng_;
  std::optional<detail::Known> current_;
  std::vector<double> successes_;  ///< ascending, for their median
  detail::Starts starts_;
  std::uint64_t heard_ = 0;  ///< results since the last start
  double temperature_;
};

}  // namespace kernelsearch

#if KERNELSEARCH_HEADER_ONLY
#  include "kernelsearch/policy/impl/simulated_annealing_impl.hpp"
#endif
