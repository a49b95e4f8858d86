// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "kernelsearch/core/rng.hpp"
#include "kernelsearch/policy/impl/ledger.hpp"
#include "kernelsearch/policy/search_policy.hpp"
#include "kernelsearch/space/space.hpp"

namespace kernelsearch {

struct IteratedLocalSearchOptions {
  std::uint64_t seed = 0;
  std::size_t initial = 8;        ///< first points: the default configuration and random ones
  std::size_t perturbation = 3;   ///< random Hamming steps away from the incumbent at a local optimum
  std::size_t restart_after = 5;  ///< perturbations in a row without gain before a random restart
  Neighbourhood neighbourhood = Neighbourhood::hamming;
  std::size_t max_neighbours = 4096;  ///< of one centre, so that wide value lists stay affordable
};

/// Iterated local search with first improvement (Lourenço, Martin, Stützle, 2003): from the best of a few
/// first points, tries neighbours in random order and moves to the first that is faster; at a local optimum
/// it perturbs the incumbent, and after enough of that starts afresh at random. Tabu: what was tried is never
/// tried again.
///
/// Departures from the textbook: neighbours are proposed in parallel, as many as are asked for; a move
/// happens as soon as any outcome beats the centre, and neighbours of the old centre that are still
/// outstanding count for it.
class IteratedLocalSearch {
 public:
  using Proposal = Config;

  explicit IteratedLocalSearch(Space space, IteratedLocalSearchOptions options = {});

  std::vector<Config> ask(std::size_t n);
  void tell(std::span<const Observation<Config>> batch);

 private:
  void observe(const Config& config, double objective);
  void refill_queue();
  [[nodiscard]] std::optional<Config> perturbed();
  [[nodiscard]] std::optional<Config> next();

  detail::Ledger ledger_;  ///< draws first points, restarts, and the rest of the space at the end
  IteratedLocalSearchOptions options_;
  Rng rng_;
  std::vector<Config> queue_;  ///< neighbours of the centre still to be proposed, last first
  std::optional<Config> centre_, incumbent_;
  double centre_objective_ = std::numeric_limits<double>::infinity();
  double incumbent_objective_ = std::numeric_limits<double>::infinity();
  std::size_t fruitless_ = 0;  ///< perturbations since the incumbent changed
  std::size_t launches_left_;  ///< first or perturbed points still to be proposed before neighbours are
  bool queue_stale_ = false;   ///< the centre moved since the queue was filled
};

}  // namespace kernelsearch

#if KERNELSEARCH_HEADER_ONLY
#  include "kernelsearch/policy/impl/iterated_local_search_impl.hpp"
#endif
