// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "kernelsearch/core/rng.hpp"
#include "kernelsearch/policy/move_ledger.hpp"
#include "kernelsearch/policy/search_policy.hpp"

namespace kernelsearch {

/// A feature by which MAP-Elites tells kernels apart.
struct EliteDescriptor {
  std::string feature;   ///< a name in Evaluation::features
  std::size_t bins = 4;  ///< of equal width between the least and the greatest value seen
};

struct MapElitesOptions {
  std::vector<std::string> strategies = {};  ///< none: the generator chooses
  std::uint64_t seed = 0;
  /// None: cells by the number of moves since the root, up to 7, and the last strategy.
  std::vector<EliteDescriptor> descriptors = {};
  std::size_t islands = 2;
  std::size_t migrate_every = 20;  ///< trials; then each island's best is copied to the next one. 0: never
  double recombine = 0.1;          ///< share of proposals that join two elites of an island
  MoveLimits limits = {};
};

/// MAP-Elites (Mouret and Clune, 2015) on islands: an archive keeps the fastest kernel of each cell of the
/// descriptors, and moves start from an elite drawn uniformly, so that kernels of every kind go on being
/// improved. Islands have archives of their own and exchange their best in a ring (as in AlphaEvolve's
/// evolution of programs); a child lives on the island of its parent, the root on all.
///
/// Departures: a failed kernel is an elite only where nothing better fills its cell, and is debugged then; a
/// kernel without one of the features falls into a cell of its own; when the elites have no strategy left
/// open, the best kernel that has one is taken.
class MapElites {
 public:
  using Proposal = Move;

  explicit MapElites(MapElitesOptions options = {});

  std::vector<Move> ask(std::size_t n);
  void tell(std::span<const Observation<Move>> batch);

  [[nodiscard]] const SearchTree& tree() const noexcept { return ledger_.tree(); }
  using Cell = std::vector<std::size_t>;
  /// The elites of an island by cell.
  [[nodiscard]] const std::map<Cell, std::size_t>& archive(std::size_t island) const {
    return archives_[island];
  }

 private:
  [[nodiscard]] std::optional<Move> choose();
  [[nodiscard]] Cell cell_of(std::size_t node) const;
  [[nodiscard]] bool better(std::size_t a, std::size_t b) const;
  void settle(std::size_t island, std::size_t node);
  void take_in(std::size_t node);
  void migrate();
  void rebuild();

  MapElitesOptions options_;
  Rng rng_;
  MoveLedger ledger_;
  std::vector<std::map<Cell, std::size_t>> archives_;             // by island
  std::vector<std::pair<std::size_t, std::size_t>> inhabitants_;  // island, node; in order of arrival
  std::vector<std::size_t> home_;                                 // by node
  std::vector<std::size_t> depth_;                                // by node, moves since the root
  std::vector<std::optional<std::pair<double, double>>> ranges_;  // by descriptor
  std::size_t turn_ = 0;
  std::size_t since_migration_ = 0;
};

}  // namespace kernelsearch

#if KERNELSEARCH_HEADER_ONLY
#  include "kernelsearch/policy/impl/map_elites_impl.hpp"
#endif
