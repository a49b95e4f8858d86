// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "kernelsearch/core/config_macros.hpp"
#include "kernelsearch/core/expression.hpp"
#include "kernelsearch/core/features.hpp"
#include "kernelsearch/model/logistic_head.hpp"
#include "kernelsearch/policy/move_ledger.hpp"
#include "kernelsearch/policy/move_sign.hpp"
#include "kernelsearch/policy/pull_statistics.hpp"

namespace kernelsearch {

/// A move that was made before this search: what heads and statistics are warmed up with.
struct MoveExample {
  Features features;  ///< of the parent
  std::string strategy;
  double reward = 0.0;
};

/// What a strategy relieves: the feature, in percent of the hardware's limit, that it makes room in.
struct StrategyTarget {
  std::string strategy;
  std::string feature;
};

/// When a strategy is worth trying: an expression over the kernel's features.
struct StrategyCondition {
  std::string strategy;
  Expression when;
};

/// What speaks for a strategy on a kernel, or against it.
struct StrategySigns {
  std::string strategy;
  std::vector<MoveSign> signs;
};

/// Whether the expression holds for these features. One that it names and that is not known decides nothing:
/// the answer is then yes, as where the expression has no value for them.
[[nodiscard]] bool holds_for(const Expression& when, const Features& features);

/// How (cluster, strategy) arms that were pulled little are judged.
enum class ArmPrior : std::uint8_t {
  explore,   ///< as infinitely good: each feasible arm is pulled once first (v1)
  constant,  ///< as `prior_pulls` pulls of `prior_mean` (v2)
  pooled,  ///< as `prior_pulls` pulls of the strategy's mean over all clusters, itself begun at `prior_mean`
};

/// Which kernel of a cluster a strategy is applied to.
enum class KernelChoice : std::uint8_t {
  compatible,  ///< the one that its head thinks best of, the fastest of equals (v1)
  softmax,     ///< drawn by the softmax of the fractions of the hardware left, else of the speeds (v2)
};

/// The cluster of a new right kernel, until the next clustering.
enum class KernelPlacing : std::uint8_t {
  nearest,  ///< that of the nearest center
  chosen,   ///< its parent's, which was chosen (the authors' code of v2)
};

/// How much of the hardware is left where a strategy's target was not measured.
enum class UnknownRoom : std::uint8_t {
  speed,    ///< by speed: the best time, divided by the kernel's
  fastest,  ///< the fastest kernel of the cluster is taken, without a draw (the authors' code of v2)
};

/// The defaults are ours, chosen on the landscape of bench/regret_bench.cpp (see docs/moves.md); `v1` and
/// `v2` are KernelBand's.
struct HierarchicalUcbOptions {
  std::vector<std::string> strategies = {};  ///< names that the generator knows
  std::uint64_t seed = 0;

  std::size_t clusters = 3;             ///< at most; 1: none, a flat bandit with heads
  std::size_t recluster_every = 10;     ///< trials; and whenever the right kernels have doubled
  bool recluster_doubled = true;        ///< the second of these
  std::size_t kernels_per_cluster = 2;  ///< right ones, which the first clustering waits for
  KernelPlacing placing = KernelPlacing::nearest;
  /// After clustering anew the statistics are computed again from the log of pulls; if not, rewards stay with
  /// the number that a cluster had (the authors' code of v2).
  bool rebuilt = true;
  double subsample = 0.1;                          ///< share of the pool that k-means++ seeds from
  std::vector<std::string> cluster_features = {};  ///< names in Evaluation::features; none: all
  std::vector<std::string> log_features = {};      ///< of these, taken as ln(1 + x); of none below -1
  bool cluster_by_time = true;                     ///< log time is one of the features

  double exploration =
      0.02;  ///< c in sqrt(c ln t / n); UCB1's 2 is for rewards that differ by far more than ours
  ArmPrior prior = ArmPrior::pooled;
  double prior_mean = 0.0;
  double prior_pulls = 3.0;

  double alpha = 1.0;  ///< weight of the heads; 0: none
  std::vector<std::string> profile_features =
      {};  ///< that the heads see; none: all of the first right kernel
  /// Learning from each pull at once: in 200 pulls of twelve strategies no buffer of 32 is ever full.
  LogisticHeadOptions head = {.learning_rate = 1.0, .l2 = 1e-3, .capacity = 1};
  std::vector<MoveExample> examples = {};  ///< warm-up: from earlier runs, or from a random phase
  std::size_t warm_up_epochs = 5;
  /// Pulls that the examples' mean reward counts for in a strategy's pooled statistics. 0: the examples warm
  /// up the heads alone; a mean over other kernels is mostly a low one, and keeps arms from being tried.
  double example_pulls = 0.0;

  KernelChoice kernel = KernelChoice::compatible;
  double temperature = 0.1;  ///< of the softmax
  UnknownRoom unknown_room = UnknownRoom::speed;
  /// Weight of ln(T(kernel) / T(best)), taken from the score: gains on a kernel that lags behind the best are
  /// worth less to the search than the reward says. 0: as published, where only the reward counts.
  double lag = 5.0;
  std::size_t frontier = 16;  ///< how many of the fastest kernels may be rewritten; 0: all

  /// Strategies that are not proposed for a kernel while their condition is false: that costs no trial and no
  /// question, and is not a pull.
  std::vector<StrategyCondition> conditions = {};
  std::vector<StrategySigns> signs = {};  ///< what kernels show for and against strategies
  Features problem = {};                  ///< known of the problem, for signs that ask for it: its traits
  /// Weight of the signs that are seen on a kernel, in the score of an arm that was never pulled; each pull
  /// of the arm makes it less, since what a strategy did outweighs what was expected of it. 0: none.
  double evidence = 0.5;
  std::vector<StrategyTarget> targets = {};  ///< none: no mask
  double saturated =
      75.0;  ///< percent from which on a target masks its strategies; one strategy is always left
  /// If all are masked, the one is left whose target is used least, of those less than this many percent
  /// above `saturated`; if there are none, the first (1 in the authors' code of v2).
  double mask_reach = 100.0;

  MoveReward reward = {};
  MoveLimits limits = {};

  /// KernelBand v1: three clusters, heads with buffers of 32, every arm once, failures -1.
  [[nodiscard]] static HierarchicalUcbOptions v1() {
    HierarchicalUcbOptions options;
    options.exploration = 2.0;
    options.prior = ArmPrior::explore;
    options.alpha = 0.5;
    options.head = {};
    options.lag = 0.0;
    options.evidence = 0.0;
    options.frontier = 0;
    return options;
  }

  /// KernelBand v2: prior 0.5 of one pull, c sqrt(ln t / n) with c = 2, a mask of the hardware signature
  /// where `targets` are given, softmax, no heads, failures 0.
  [[nodiscard]] static HierarchicalUcbOptions v2() {
    HierarchicalUcbOptions options = v1();
    options.exploration = 4.0;  // c = 2 stands before the root
    options.prior = ArmPrior::constant;
    options.prior_mean = 0.5;
    options.prior_pulls = 1.0;
    options.alpha = 0.0;
    options.kernel = KernelChoice::softmax;
    options.temperature = 0.01;  // on fractions; the authors' code has 1, on percentages
    options.reward = {.failure = 0.0, .floor = 0.0};
    return options;
  }
};

}  // namespace kernelsearch

#if KERNELSEARCH_HEADER_ONLY
#  include "kernelsearch/policy/impl/hierarchical_ucb_options_impl.hpp"
#endif
