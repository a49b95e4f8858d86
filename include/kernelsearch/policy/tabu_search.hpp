// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <unordered_set>
#include <vector>

#include "kernelsearch/core/rng.hpp"
#include "kernelsearch/policy/impl/ledger.hpp"
#include "kernelsearch/policy/impl/starts.hpp"
#include "kernelsearch/policy/search_policy.hpp"
#include "kernelsearch/space/space.hpp"

namespace kernelsearch {

/// Defaults: tuned together on the eight recorded development spaces, see docs/benchmarks/space_policies.md.
struct TabuSearchOptions {
  std::uint64_t seed = 0;
  bool default_first = true;    ///< begin with the space's default configuration
  std::size_t starts = 20;      ///< random points at first; the walk begins at the best of them
  std::size_t candidates = 12;  ///< unknown neighbours measured before each move
  std::size_t tenure = 3;       ///< moves during which a value that was left must not come back
  std::size_t patience = 3;     ///< moves without a new best before it begins afresh
  /// adjacent: also any value of a tunable that has at most four.
  Neighbourhood neighbourhood = Neighbourhood::adjacent;
};

/// Tabu search (Glover, 1989 and 1990): moves to the best of a sample of the neighbours even when that is
/// slower; values just left are tabu for a while, unless they lead to a new best (aspiration). After a few
/// moves without a new best it begins afresh at random points (diversification).
///
/// Departures from the papers: the sample is of unknown neighbours, and known ones compete for nothing,
/// except that the walk never stands twice at one place.
class TabuSearch {
 public:
  using Proposal = Config;

  explicit TabuSearch(Space space, TabuSearchOptions options = {});

  std::vector<Config> ask(std::size_t n);
  void tell(std::span<const Observation<Config>> batch);

 private:
  struct Left {
    std::size_t tunable;
    std::uint32_t value;
    std::uint64_t until;
  };
  [[nodiscard]] std::optional<Config> next();
  [[nodiscard]] bool tabu(const Config& config) const;
  void move();
  void stand(Config config);
  void begin_afresh();

  detail::Ledger ledger_;
  TabuSearchOptions options_;
  Rng rng_;
  std::optional<Config> current_;
  std::vector<Config> around_;  ///< its neighbours, in random order
  std::vector<Config> queue_;   ///< those to be measured before the next move, last first
  std::unordered_set<Config> stood_;
  std::vector<Left> left_;
  std::uint64_t moves_ = 0;
  std::uint64_t best_move_ = 0;        ///< the move before which the best was found
  std::optional<detail::Known> best_;  ///< since the last start
  detail::Starts starts_;
};

}  // namespace kernelsearch

#if KERNELSEARCH_HEADER_ONLY
#  include "kernelsearch/policy/impl/tabu_search_impl.hpp"
#endif
