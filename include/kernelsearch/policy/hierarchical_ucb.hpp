// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kernelsearch/policy/hierarchical_ucb_options.hpp"
#include "kernelsearch/policy/move_ledger.hpp"
#include "kernelsearch/policy/search_policy.hpp"

namespace kernelsearch {

/// The hierarchical bandit of KernelBand (arXiv 2511.18868): kernels are clustered by how they run, every
/// (cluster, strategy) pair is an arm with the score
///
///     mean + sqrt(c ln t / n) + alpha * p_strategy(features of the kernel),
///
/// and the best (cluster, strategy, kernel) is proposed. `p` is a compatibility head: a streaming logistic
/// regression of whether the strategy will gain. Options::v1() and v2() are the two published versions.
///
/// Departures, all of which v1() and v2() keep: after clustering anew the statistics are rebuilt from the log
/// of pulls (the published code leaves rewards with clusters that are gone: `rebuilt`); rewards are clipped
/// to [-1, 1]; outstanding pulls count with the mean so far; a feature that was not measured counts as the
/// average one; what failed belongs to its parent's cluster and is rewritten only when no right kernel has a
/// strategy left.
class HierarchicalUcb {
 public:
  using Proposal = Move;

  explicit HierarchicalUcb(HierarchicalUcbOptions options = {});
  ~HierarchicalUcb();
  HierarchicalUcb(HierarchicalUcb&&) noexcept;
  HierarchicalUcb& operator=(HierarchicalUcb&&) noexcept;

  std::vector<Move> ask(std::size_t n);
  void tell(std::span<const Observation<Move>> batch);

  [[nodiscard]] const SearchTree& tree() const noexcept;
  /// Clusters there are now, at least 1.
  [[nodiscard]] std::size_t clusters() const noexcept;
  [[nodiscard]] std::size_t cluster_of(std::size_t node) const;
  [[nodiscard]] const ArmStatistics& statistics(std::size_t cluster, std::size_t strategy) const;
  /// The head's probability that the strategy gains on the node; 0.5 while there are no heads.
  [[nodiscard]] double compatibility(std::size_t node, std::size_t strategy) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace kernelsearch

#if KERNELSEARCH_HEADER_ONLY
#  include "kernelsearch/policy/impl/hierarchical_ucb_impl.hpp"
#endif
