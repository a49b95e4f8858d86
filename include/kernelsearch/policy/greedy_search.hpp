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
struct GreedySearchOptions {
  std::uint64_t seed = 0;
  bool default_first = true;  ///< begin with the space's default configuration
  std::size_t starts = 20;    ///< random points before each climb, which begins at the best of them
  /// adjacent: also any value of a tunable that has at most four.
  Neighbourhood neighbourhood = Neighbourhood::adjacent;
};

/// Best-improvement hill climbing with random restarts (Aarts and Lenstra, Local Search in Combinatorial
/// Optimization, 1997, chapter 1): measures every neighbour of the centre, moves to the best of them while
/// that is faster, and otherwise begins again at random points.
///
/// Departures from the textbook: neighbours that are known already are not measured again but count; a
/// result from outside, or a late one, that is faster than the centre moves the centre there at once.
class GreedySearch {
 public:
  using Proposal = Config;

  explicit GreedySearch(Space space, GreedySearchOptions options = {});

  std::vector<Config> ask(std::size_t n);
  void tell(std::span<const Observation<Config>> batch);

 private:
  [[nodiscard]] std::optional<Config> next();
  void climb();
  void set_centre(Config config);

  detail::Ledger ledger_;
  GreedySearchOptions options_;
  Rng rng_;
  std::optional<Config> centre_;        ///< empty while the points before a climb are measured
  std::vector<Config> around_;          ///< its neighbours
  std::vector<Config> queue_;           ///< those still to be proposed, last first
  std::optional<detail::Known> start_;  ///< the best of the points before the next climb
  detail::Starts starts_;
};

}  // namespace kernelsearch

#if KERNELSEARCH_HEADER_ONLY
#  include "kernelsearch/policy/impl/greedy_search_impl.hpp"
#endif
