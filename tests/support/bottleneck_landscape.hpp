// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "kernelsearch/core/move.hpp"
#include "kernelsearch/core/outcome.hpp"
#include "kernelsearch/core/rng.hpp"
#include "kernelsearch/policy/hierarchical_ucb_options.hpp"

/// A landscape of kernels with a hidden compatibility of (cluster, strategy) and a known optimum.
///
/// A kernel is limited by one of three bottlenecks, its hidden cluster, and each of twelve strategies
/// relieves one of them: where it is the kernel's, the strategy mostly succeeds and takes 3 to 8 percent of
/// the time away; where it is not, it mostly gives a kernel that is wrong, or a little slower. A success
/// moves the bottleneck now and then. No kernel is faster than 1, from about 100 at the root; who knew the
/// compatibilities would be there after some 110 moves. Three profiled counters tell the bottleneck, 40
/// percent apart, with a deviation of 14; three more are noise alone.
class BottleneckLandscape {
 public:
  static constexpr std::size_t bottlenecks = 3;
  static constexpr std::size_t strategy_count = 12;
  static constexpr double optimum = 1.0;

  /// `seed` fixes the compatibilities; `draws` the noise and luck of one search.
  BottleneckLandscape(std::uint64_t seed, std::uint64_t draws)
      : rng_(kernelsearch::Rng::stream(draws, "landscape draws")) {
    kernelsearch::Rng rng = kernelsearch::Rng::stream(seed, "landscape");
    std::array<std::size_t, strategy_count> order{};
    for (std::size_t s = 0; s < strategy_count; ++s) order[s] = s;
    rng.shuffle(order);
    for (std::size_t i = 0; i < strategy_count; ++i)
      for (std::size_t b = 0; b < bottlenecks; ++b)
        success_[b][order[i]] = i % bottlenecks == b ? rng.uniform(0.6, 0.95) : rng.uniform(0.0, 0.15);
    for (double& gain : gain_) gain = rng.uniform(0.03, 0.08);
    start_ = {std::exp(rng.uniform(4.3, 4.9)), rng.below(bottlenecks)};
  }

  static std::vector<std::string> strategies() {
    std::vector<std::string> names;
    for (std::size_t s = 0; s < strategy_count; ++s) names.push_back("s" + std::to_string(s));
    return names;
  }

  /// What becomes of the move as trial `id` of proposal `proposal`.
  kernelsearch::Observation<kernelsearch::Move> realise(const kernelsearch::Move& move, std::uint64_t id,
                                                        std::uint64_t proposal) {
    using namespace kernelsearch;
    Observation<Move> observation{move, {}};
    Outcome& outcome = observation.outcome;
    outcome.id = TrialId{id};
    outcome.origin = Origin{ProposalId{proposal}, 0, 1};
    outcome.parents = move.parents;
    Kernel kernel = start_;
    bool wrong = false;
    if (!move.parents.empty()) {
      kernel = kernels_.at(number(move.parents.front()));
      const std::size_t s =
          move.strategies.empty() ? rng_.below(strategy_count) : index_of(move.strategies.front());
      missed_ = best_success(kernel.cluster) - success_[kernel.cluster][s];
      if (rng_.chance(success_[kernel.cluster][s])) {
        kernel.time = std::max(optimum, kernel.time * (1 - gain_[s]));
        if (rng_.chance(0.25)) kernel.cluster = rng_.below(bottlenecks);
      } else if (rng_.chance(0.6)) {
        wrong = true;
      } else {
        kernel.time *= 1.03;
      }
    }
    kernels_[id] = kernel;
    if (wrong) {
      outcome.evaluation = Evaluation::failed(Verdict::wrong_result, "not compatible");
      return observation;
    }
    outcome.objective = kernel.time;
    outcome.evaluation = Evaluation::succeeded(kernel.time);
    for (std::size_t b = 0; b < bottlenecks; ++b)
      outcome.evaluation.features.set("stalls_" + std::to_string(b),
                                      (b == kernel.cluster ? 60.0 : 20.0) + 14.0 * rng_.normal());
    for (int i = 0; i < 3; ++i) outcome.evaluation.features.set("noise_" + std::to_string(i), rng_.normal());
    return observation;
  }

  /// By how much the last move was less likely to succeed than the best one on the same kernel.
  [[nodiscard]] double missed() const noexcept { return missed_; }
  [[nodiscard]] double success(std::size_t bottleneck, std::size_t strategy) const {
    return success_[bottleneck][strategy];
  }
  /// The logarithm of the time that the strategy takes away on average.
  [[nodiscard]] double worth(std::size_t bottleneck, std::size_t strategy) const {
    return success_[bottleneck][strategy] * -std::log1p(-gain_[strategy]);
  }
  [[nodiscard]] std::size_t cluster_of(kernelsearch::TrialId id) const {
    return kernels_.at(kernelsearch::number(id)).cluster;
  }

 private:
  struct Kernel {
    double time = 0.0;
    std::size_t cluster = 0;
  };
  static std::size_t index_of(const std::string& name) { return std::stoul(name.substr(1)); }
  [[nodiscard]] double best_success(std::size_t b) const {
    return *std::max_element(success_[b].begin(), success_[b].end());
  }

  std::array<std::array<double, strategy_count>, bottlenecks> success_{};
  std::array<double, strategy_count> gain_{};
  Kernel start_;
  std::unordered_map<std::uint64_t, Kernel> kernels_;
  kernelsearch::Rng rng_;
  double missed_ = 0.0;
};

namespace bottleneck_landscape {

/// What one search came to.
struct Regret {
  double time = 0.0;           ///< sum over pulls of ln(best so far / optimum)
  double compatibility = 0.0;  ///< sum over pulls of `missed()`
};

/// What the policy came to after each of these numbers of moves, in rising order, one move after another.
template <class Policy>
std::vector<Regret> regrets_of(Policy& policy, BottleneckLandscape landscape,
                               const std::vector<std::size_t>& pulls) {
  using namespace kernelsearch;
  std::vector<Regret> regrets;
  Regret regret;
  double best = std::numeric_limits<double>::infinity();
  for (std::uint64_t t = 0; regrets.size() < pulls.size(); ++t) {
    const std::vector<Move> moves = policy.ask(1);
    if (!moves.empty()) {
      const Observation<Move> observation = landscape.realise(moves.front(), t, t);
      policy.tell(std::span<const Observation<Move>>(&observation, 1));
      best = std::min(best, observation.outcome.objective);
    }
    if (t == 0) continue;  // the root
    regret.time += std::log(best / BottleneckLandscape::optimum);
    regret.compatibility += landscape.missed();
    if (t == pulls[regrets.size()]) regrets.push_back(regret);
  }
  return regrets;
}

/// `pulls` moves of the policy, one after another.
template <class Policy>
Regret regret_of(Policy& policy, BottleneckLandscape landscape, std::size_t pulls) {
  return regrets_of(policy, std::move(landscape), {pulls}).front();
}

/// The same of one who knows the bottlenecks and the compatibilities: the best kernel, by the strategy that
/// takes most time away on average. No policy can be expected to do better.
inline std::vector<Regret> informed_regrets(BottleneckLandscape landscape,
                                            const std::vector<std::size_t>& pulls) {
  using namespace kernelsearch;
  std::vector<Regret> regrets;
  Regret regret;
  TrialId best{};
  double least = landscape.realise(Move{}, 0, 0).outcome.objective;
  for (std::uint64_t t = 1; regrets.size() < pulls.size(); ++t) {
    const std::size_t bottleneck = landscape.cluster_of(best);
    std::size_t chosen = 0;
    for (std::size_t s = 1; s < BottleneckLandscape::strategy_count; ++s)
      if (landscape.worth(bottleneck, s) > landscape.worth(bottleneck, chosen)) chosen = s;
    const auto told =
        landscape.realise({MoveKind::rewrite, {best}, {BottleneckLandscape::strategies()[chosen]}}, t, t);
    if (told.outcome.objective < least) least = told.outcome.objective, best = told.outcome.id;
    regret.time += std::log(least / BottleneckLandscape::optimum);
    regret.compatibility += landscape.missed();
    if (t == pulls[regrets.size()]) regrets.push_back(regret);
  }
  return regrets;
}

/// A random phase on a landscape of the same compatibilities: pairs that heads and statistics are warmed up
/// with.
inline std::vector<kernelsearch::MoveExample> examples_of(BottleneckLandscape landscape, std::size_t pairs,
                                                          kernelsearch::Rng rng) {
  using namespace kernelsearch;
  std::vector<MoveExample> examples;
  std::vector<Observation<Move>> right{landscape.realise(Move{}, 0, 0)};
  for (std::uint64_t id = 1; examples.size() < pairs; ++id) {
    const Observation<Move>& parent = right[rng.below(right.size())];
    const std::string strategy =
        BottleneckLandscape::strategies()[rng.below(BottleneckLandscape::strategy_count)];
    Observation<Move> child = landscape.realise({MoveKind::rewrite, {parent.outcome.id}, {strategy}}, id, id);
    const double reward = child.outcome.ok() ? 1 - child.outcome.objective / parent.outcome.objective : -1.0;
    examples.push_back({parent.outcome.evaluation.features, strategy, reward});
    if (child.outcome.ok()) right.push_back(std::move(child));
  }
  return examples;
}

}  // namespace bottleneck_landscape
