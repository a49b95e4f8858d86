// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "kernelsearch/core/rng.hpp"
#include "kernelsearch/policy/any_policy.hpp"
#include "kernelsearch/policy/search_policy.hpp"
#include "kernelsearch/space/space.hpp"

namespace kernelsearch {

/// One of the policies that a bandit chooses between.
struct BanditArm {
  std::string name;
  AnyPolicy<Config> policy;
};

struct PolicyBanditOptions {
  std::uint64_t seed = 0;
  double exploration = 0.05;  ///< weight of the bonus for arms that were seldom used (C of the paper)
  std::size_t window = 500;   ///< proposals that count, the latest ones
};

/// Simulated annealing, a genetic algorithm, differential evolution and greedy search, with their defaults.
[[nodiscard]] std::vector<BanditArm> default_bandit_arms(const Space& space, std::uint64_t seed,
                                                         bool default_first = true);

/// Several policies as the arms of a bandit (OpenTuner: Ansel et al., 2014, section 3.2; AUC credit: Fialho
/// et al., 2010): each proposal is asked of the arm with the largest sum of credit and exploration bonus.
/// Credit is the area under the curve of its new bests, late ones weighing more. Every arm is told of every
/// outcome, of others' as ones from outside.
///
/// Departures from OpenTuner: an arm that proposes what another one has outstanding is asked again and shares
/// the outcome; a use counts from the proposal on, so that arms also take turns while results are
/// outstanding.
class PolicyBandit {
 public:
  using Proposal = Config;

  /// ConfigError when there is no arm.
  explicit PolicyBandit(std::vector<BanditArm> arms, PolicyBanditOptions options = {});

  std::vector<Config> ask(std::size_t n);
  void tell(std::span<const Observation<Config>> batch);
  /// Whether an arm that waits for its own model has more to come.
  bool await();

  [[nodiscard]] std::size_t size() const noexcept { return arms_.size(); }
  [[nodiscard]] const std::string& name(std::size_t arm) const { return arms_[arm].name; }
  /// Proposals of that arm so far.
  [[nodiscard]] std::uint64_t uses(std::size_t arm) const { return proposals_[arm]; }
  /// Its credit: 0 without a new best in the window, 1 when each of its proposals was one.
  [[nodiscard]] double credit(std::size_t arm) const;

 private:
  struct Owner {
    std::size_t arm;
    std::uint64_t proposal;  ///< by the arm's own count
  };
  struct Entry {
    std::vector<Owner>
        owners;  ///< whose proposal it is, the arm first that it was taken from; none: from outside
    std::uint64_t use = 0;  ///< place in the history, from the first proposal on
  };
  struct Use {
    std::size_t arm;
    bool new_best = false;
  };
  [[nodiscard]] std::optional<Config> next();
  [[nodiscard]] std::vector<std::size_t> by_score();
  [[nodiscard]] std::optional<Config> fresh_from(std::size_t arm);

  std::vector<BanditArm> arms_;
  PolicyBanditOptions options_;
  Rng rng_;
  std::vector<std::uint64_t> asked_;      ///< by arm, including what others had outstanding
  std::vector<std::uint64_t> proposals_;  ///< by arm
  std::unordered_map<Config, Entry> entries_;
  std::deque<Use> history_;
  std::uint64_t forgotten_ = 0;  ///< uses that left the window
  std::optional<Config> best_config_;
  double best_ = std::numeric_limits<double>::infinity();
};

}  // namespace kernelsearch

#if KERNELSEARCH_HEADER_ONLY
#  include "kernelsearch/policy/impl/policy_bandit_impl.hpp"
#endif
