// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cmath>
#include <utility>

#include "kernelsearch/policy/impl/transfer_prior.hpp"

namespace kernelsearch::detail {

KERNELSEARCH_INLINE double excess(double time, double best, double scale) {
  const double u = std::log(time / best) / scale;
  return u <= 1 ? u : 1 + std::log(u);
}

namespace transfer {

/// Keeps what says something of this space; returns its successful times in order.
inline std::vector<double> clean(EarlierRun& run, const Space& space) {
  std::erase_if(run.outcomes, [&](const EarlierOutcome& outcome) {
    return !space.contains(outcome.config) || !(outcome.objective > 0);
  });
  std::vector<double> good;
  for (const EarlierOutcome& outcome : run.outcomes)
    if (std::isfinite(outcome.objective)) good.push_back(outcome.objective);
  std::sort(good.begin(), good.end());
  return good;
}

/// Where `time` stands among sorted times, 0 for the best, 1 for the worst.
inline double standing(const std::vector<double>& sorted, double time) {
  const auto at = std::lower_bound(sorted.begin(), sorted.end(), time) - sorted.begin();
  return static_cast<double>(at) / static_cast<double>(std::max<std::size_t>(1, sorted.size() - 1));
}

}  // namespace transfer

KERNELSEARCH_INLINE TransferPrior::TransferPrior(const Space& space, const SpaceFeatures& features,
                                                 std::vector<EarlierRun> runs)
    : features_(&features) {
  constexpr std::size_t most_runs = 8;  // the largest ones
  std::stable_sort(runs.begin(), runs.end(), [](const EarlierRun& a, const EarlierRun& b) {
    return a.outcomes.size() > b.outcomes.size();
  });
  std::vector<std::vector<double>> times;
  for (EarlierRun& run : runs) {
    std::vector<double> good = transfer::clean(run, space);
    if (good.size() < fewest_earlier || times.size() == most_runs) continue;
    times.push_back(std::move(good));
    runs_.push_back({run.source, {}, GaussianProcess({features.lengths(), features.length_of()})});
    for (const EarlierOutcome& outcome : run.outcomes)
      runs_.back().excess[outcome.config] =
          std::isfinite(outcome.objective) ? transfer::standing(times.back(), outcome.objective) : 2.0;
  }
  if (runs_.empty()) return;
  rank();

  // How excess grows with standing, on average over the runs: devices differ more in that than in the order.
  constexpr std::size_t grid = 256;
  std::vector<double> curve(grid + 1, 0.0);
  scale_ = 0;
  for (const std::vector<double>& good : times) {
    const double spread = std::max(1e-3, std::log(good[good.size() / 2] / good.front()));
    scale_ += spread / static_cast<double>(times.size());
    for (std::size_t g = 0; g <= grid; ++g)
      curve[g] += detail::excess(good[g * (good.size() - 1) / grid], good.front(), spread) /
                  static_cast<double>(times.size());
  }
  for (Run& run : runs_) {
    for (auto& [config, value] : run.excess) {
      if (value > 1) {
        value = curve[grid] + 0.5;  // it failed
        continue;
      }
      const double at = value * static_cast<double>(grid);
      const std::size_t left = std::min(grid - 1, static_cast<std::size_t>(at));
      value = curve[left] + (at - static_cast<double>(left)) * (curve[left + 1] - curve[left]);
    }
    if (space.count() > BigCount(run.excess.size())) learn(run);
  }
}

/// A model of the run for what it did not measure, of its best outcomes and an even choice of the others.
KERNELSEARCH_INLINE void TransferPrior::learn(Run& run) {
  constexpr std::size_t most = 300;
  std::vector<std::pair<double, Config>> order;
  for (const auto& [config, value] : run.excess) order.emplace_back(value, config);
  std::sort(order.begin(), order.end());
  const std::size_t best = std::min(order.size(), most / 2);
  const std::size_t stride = std::max<std::size_t>(1, (order.size() - best) / (most / 2));
  FeatureMatrix points(std::max<std::size_t>(1, features_->size()));
  std::vector<double> targets;
  std::vector<float> row(features_->size());
  for (std::size_t i = 0; i < order.size() && targets.size() < most; i += i < best ? 1 : stride) {
    features_->write(order[i].second, row);
    points.add_row(std::vector<double>(row.begin(), row.end()));
    targets.push_back(order[i].first - 1);  // about 0: the median's excess is 1
  }
  run.model.condition(points, targets);
}

/// Orders configurations by their mean standing; where a run did not measure one it counts as the median.
KERNELSEARCH_INLINE void TransferPrior::rank() {
  std::unordered_map<Config, double> sums;
  for (const Run& run : runs_)
    for (const auto& [config, standing] : run.excess) sums[config] += standing - 0.5;
  std::vector<std::pair<double, Config>> order;
  order.reserve(sums.size());
  for (const auto& [config, sum] : sums) order.emplace_back(sum, config);
  std::sort(order.begin(), order.end());
  for (auto& [sum, config] : order) ranking_.push_back(std::move(config));
}

KERNELSEARCH_INLINE double TransferPrior::expect(const Run& run, const Config& config) const {
  const auto found = run.excess.find(config);
  if (found != run.excess.end()) return found->second;
  std::vector<float> row(features_->size());
  features_->write(config, row);
  return 1 + run.model.mean(std::vector<double>(row.begin(), row.end()));
}

KERNELSEARCH_INLINE void TransferPrior::write(const Config& config, std::span<double> out) const {
  for (std::size_t r = 0; r < runs_.size(); ++r) out[r] = expect(runs_[r], config);
}

KERNELSEARCH_INLINE double TransferPrior::mean(const Config& config) const {
  double sum = 0;
  for (const Run& run : runs_) sum += expect(run, config);
  return sum / static_cast<double>(std::max<std::size_t>(1, runs_.size()));
}

}  // namespace kernelsearch::detail
