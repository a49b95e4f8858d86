// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernelsearch/core/config_macros.hpp"
#include "kernelsearch/policy/move_ledger.hpp"
#include "kernelsearch/policy/move_reward.hpp"

namespace kernelsearch {

/// What the pulls of one arm of a bandit came to.
struct ArmStatistics {
  std::size_t pulls = 0;
  double reward = 0.0;          ///< sum
  double squared_reward = 0.0;  ///< sum of squares
  double build_seconds = 0.0;   ///< sum

  void add(double value, double build) noexcept {
    ++pulls;
    reward += value;
    squared_reward += value * value;
    build_seconds += build;
  }
  [[nodiscard]] double mean() const noexcept {
    return pulls == 0 ? 0.0 : reward / static_cast<double>(pulls);
  }
  [[nodiscard]] double mean_build() const noexcept {
    return pulls == 0 ? 0.0 : build_seconds / static_cast<double>(pulls);
  }
};

/// Statistics of arms that follow a ledger's log of pulls. `arm_of(pull)` says which arm a pull belongs to;
/// when that changes (clusters were made anew), `rebuild` attributes every pull again.
class PullStatistics {
 public:
  explicit PullStatistics(std::size_t arms, MoveReward reward = {});

  /// Takes in what was logged since; everything again where an outcome was replaced meanwhile.
  template <class ArmOf>
  void follow(const MoveLedger& ledger, ArmOf arm_of) {
    if (ledger.revisions() != revisions_) clear(arms_.size());
    revisions_ = ledger.revisions();
    for (; taken_ < ledger.pulls().size(); ++taken_) {
      const Pull& pull = ledger.pulls()[taken_];
      const TreeNode& child = ledger.node(pull.child);
      arms_[arm_of(pull)].add(reward_(ledger.node(pull.parent), child), child.build_seconds);
    }
  }
  template <class ArmOf>
  void rebuild(const MoveLedger& ledger, std::size_t arms, ArmOf arm_of) {
    clear(arms);
    follow(ledger, arm_of);
  }
  /// More or fewer arms; those that stay keep what they have.
  void resize(std::size_t arms) { arms_.resize(arms); }

  [[nodiscard]] const ArmStatistics& operator[](std::size_t arm) const { return arms_[arm]; }
  /// Pulls of all arms.
  [[nodiscard]] std::size_t pulls() const noexcept { return taken_; }

 private:
  void clear(std::size_t arms);

  MoveReward reward_;
  std::vector<ArmStatistics> arms_;
  std::size_t taken_ = 0;
  std::uint64_t revisions_ = 0;
};

}  // namespace kernelsearch

#if KERNELSEARCH_HEADER_ONLY
#  include "kernelsearch/policy/impl/pull_statistics_impl.hpp"
#endif
