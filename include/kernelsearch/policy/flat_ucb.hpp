// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kernelsearch/core/rng.hpp"
#include "kernelsearch/policy/move_ledger.hpp"
#include "kernelsearch/policy/pull_statistics.hpp"
#include "kernelsearch/policy/search_policy.hpp"

namespace kernelsearch {

struct FlatUcbOptions {
  std::vector<std::string> strategies = {};  ///< names that the generator knows
  std::uint64_t seed = 0;
  double exploration = 2.0;  ///< c in sqrt(c ln t / n), 2 as in UCB1; 0: greedy choice
  double epsilon = 0.0;      ///< share of pulls of a strategy drawn at random; 1: random choice
  MoveReward reward = {};
  MoveLimits limits = {};
};

/// UCB1 (Auer, Cesa-Bianchi, Fischer, 2002) over the strategies, always on the best kernel that has one open:
/// the bandit that hierarchical ones are compared with. With `exploration` 0 and an `epsilon` it is the
/// epsilon-greedy bandit, with 0 and 0 greedy choice, with `epsilon` 1 random choice.
///
/// Departures: rewards lie in [-1, 1]; pulls that are outstanding count with the mean so far; of equal arms
/// the one with fewer pulls comes first, then the one that builds faster (KernelBand's rule for ties).
class FlatUcb {
 public:
  using Proposal = Move;

  explicit FlatUcb(FlatUcbOptions options = {});

  std::vector<Move> ask(std::size_t n);
  void tell(std::span<const Observation<Move>> batch);

  [[nodiscard]] const SearchTree& tree() const noexcept { return ledger_.tree(); }
  [[nodiscard]] const ArmStatistics& statistics(std::size_t strategy) const { return statistics_[strategy]; }

 private:
  [[nodiscard]] std::optional<Move> choose();
  [[nodiscard]] std::size_t best_arm(std::size_t node) const;

  FlatUcbOptions options_;
  Rng rng_;
  MoveLedger ledger_;
  PullStatistics statistics_;
};

}  // namespace kernelsearch

#if KERNELSEARCH_HEADER_ONLY
#  include "kernelsearch/policy/impl/flat_ucb_impl.hpp"
#endif
