// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <utility>

#include "kernelsearch/model/impl/row_length.hpp"
#include "kernelsearch/model/kmeans.hpp"

namespace kernelsearch {
namespace detail {

inline double squared_distance(std::span<const double> a, std::span<const double> b) noexcept {
  double sum = 0;
  for (std::size_t f = 0; f < a.size(); ++f) sum += (a[f] - b[f]) * (a[f] - b[f]);
  return sum;
}

/// The nearest row of `centres` and its squared distance.
inline std::pair<std::size_t, double> nearest_row(const FeatureMatrix& centres,
                                                  std::span<const double> point) noexcept {
  std::pair<std::size_t, double> best{0, std::numeric_limits<double>::infinity()};
  for (std::size_t c = 0; c < centres.rows(); ++c) {
    const double distance = squared_distance(centres.row(c), point);
    if (distance < best.second) best = {c, distance};
  }
  return best;
}

}  // namespace detail

KERNELSEARCH_INLINE KMeans::KMeans(std::size_t features, KMeansOptions options)
    : options_(options), rng_(Rng::stream(options.seed, "kmeans")), centres_(features) {
  if (options.clusters == 0 || options.restarts == 0 || !(options.subsample > 0 && options.subsample <= 1)) {
    detail::raise<ConfigError>("k-means cannot run with these options",
                               std::to_string(options.clusters) + " clusters, " +
                                   std::to_string(options.restarts) + " restarts, subsample " +
                                   std::to_string(options.subsample),
                               "give at least one cluster and one restart, a subsample in (0, 1]");
  }
}

KERNELSEARCH_INLINE void KMeans::seed_centres(const FeatureMatrix& points) {
  centres_.clear();
  const std::size_t n = points.rows();
  std::vector<std::size_t> chosen(n);
  std::iota(chosen.begin(), chosen.end(), std::size_t{0});
  const auto wanted = static_cast<std::size_t>(std::ceil(options_.subsample * static_cast<double>(n)));
  const std::size_t sample = std::min(n, std::max(wanted, options_.clusters));
  for (std::size_t i = 0; i < sample && sample < n; ++i) std::swap(chosen[i], chosen[i + rng_.below(n - i)]);
  chosen.resize(sample);

  centres_.add_row(points.row(chosen[rng_.below(sample)]));
  std::vector<double> distance(sample), trial(sample), best(sample);
  for (std::size_t i = 0; i < sample; ++i)
    distance[i] = detail::squared_distance(points.row(chosen[i]), centres_.row(0));
  const auto tries = 2 + static_cast<std::size_t>(std::log(static_cast<double>(options_.clusters)));
  while (centres_.rows() < options_.clusters) {
    const double total = std::accumulate(distance.begin(), distance.end(), 0.0);
    if (!(total > 0)) return;  // fewer distinct points than clusters
    double least = std::numeric_limits<double>::infinity();
    std::size_t winner = 0;
    for (std::size_t t = 0; t < tries; ++t) {
      double left = rng_.uniform() * total;
      std::size_t pick = 0;
      for (std::size_t i = 0; i < sample; ++i) {
        if (distance[i] > 0) pick = i;  // rounding may run past the end: then the last possible one
        left -= distance[i];
        if (left < 0) break;
      }
      double potential = 0;
      for (std::size_t i = 0; i < sample; ++i) {
        trial[i] =
            std::min(distance[i], detail::squared_distance(points.row(chosen[i]), points.row(chosen[pick])));
        potential += trial[i];
      }
      if (potential < least) {
        least = potential;
        winner = pick;
        best.swap(trial);
      }
    }
    centres_.add_row(points.row(chosen[winner]));
    distance.swap(best);
  }
}

KERNELSEARCH_INLINE std::size_t KMeans::iterate(const FeatureMatrix& points,
                                                std::vector<std::size_t>& labels) {
  std::size_t moved = 0;
  const std::size_t k = centres_.rows();
  FeatureMatrix sums(points.columns(), std::vector<double>(k * points.columns()));
  std::vector<std::size_t> counts(k);
  std::size_t farthest = 0;
  double farthest_distance = -1;
  for (std::size_t i = 0; i < points.rows(); ++i) {
    const auto [cluster, distance] = detail::nearest_row(centres_, points.row(i));
    moved += labels[i] != cluster ? 1 : 0;
    labels[i] = cluster;
    ++counts[cluster];
    if (distance > farthest_distance) {
      farthest_distance = distance;
      farthest = i;
    }
    const auto point = points.row(i);
    const auto sum = sums.row(cluster);
    for (std::size_t f = 0; f < point.size(); ++f) sum[f] += point[f];
  }
  for (std::size_t c = 0; c < k; ++c) {
    const auto centre = centres_.row(c);
    const auto sum = sums.row(c);
    for (std::size_t f = 0; f < centre.size(); ++f) {
      // An empty cluster moves to the point that is worst served, so that none is lost.
      centre[f] = counts[c] > 0 ? sum[f] / static_cast<double>(counts[c]) : points.row(farthest)[f];
    }
    moved += counts[c] == 0 ? 1 : 0;
  }
  counts_ = std::move(counts);
  return moved;
}

KERNELSEARCH_INLINE std::vector<std::size_t> KMeans::fit(const FeatureMatrix& points) {
  detail::require_features(points.columns(), centres_.columns());
  FeatureMatrix best_centres(centres_.columns());
  std::vector<std::size_t> best_counts, best_labels;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t restart = 0; restart < options_.restarts && !points.empty(); ++restart) {
    std::vector<std::size_t> labels(points.rows(), options_.clusters);
    seed_centres(points);
    for (std::size_t i = 0; i < std::max<std::size_t>(options_.iterations, 1); ++i)
      if (iterate(points, labels) == 0) break;
    if (const double sum = inertia(points); restart == 0 || sum < least) {
      least = sum;
      best_centres = centres_;
      best_counts = counts_;
      best_labels = std::move(labels);
    }
  }
  centres_ = std::move(best_centres);
  counts_ = std::move(best_counts);
  return best_labels;
}

KERNELSEARCH_INLINE std::size_t KMeans::nearest(std::span<const double> point) const {
  detail::require_features(point.size(), centres_.columns());
  if (centres_.empty()) {
    detail::raise<ConfigError>("there are no clusters yet", "no point was seen", "call fit or add first");
  }
  return detail::nearest_row(centres_, point).first;
}

KERNELSEARCH_INLINE void KMeans::take(std::span<const double> point, std::size_t cluster) {
  const double share = 1.0 / static_cast<double>(++counts_[cluster]);
  const auto centre = centres_.row(cluster);
  for (std::size_t f = 0; f < point.size(); ++f) centre[f] += share * (point[f] - centre[f]);
}

KERNELSEARCH_INLINE std::size_t KMeans::add(std::span<const double> point) {
  detail::require_features(point.size(), centres_.columns());
  const auto [cluster, distance] = detail::nearest_row(centres_, point);
  if (centres_.empty() || (centres_.rows() < options_.clusters && distance > 0)) {
    centres_.add_row(point);
    counts_.push_back(1);
    return counts_.size() - 1;
  }
  take(point, cluster);
  return cluster;
}

KERNELSEARCH_INLINE void KMeans::refresh(const FeatureMatrix& batch) {
  if (centres_.empty()) {
    fit(batch);
    return;
  }
  const std::vector<std::size_t> labels = assign(batch);
  for (std::size_t i = 0; i < labels.size(); ++i) take(batch.row(i), labels[i]);
}

KERNELSEARCH_INLINE std::vector<std::size_t> KMeans::assign(const FeatureMatrix& points) const {
  std::vector<std::size_t> labels;
  labels.reserve(points.rows());
  for (std::size_t i = 0; i < points.rows(); ++i) labels.push_back(nearest(points.row(i)));
  return labels;
}

KERNELSEARCH_INLINE double KMeans::inertia(const FeatureMatrix& points) const {
  detail::require_features(points.columns(), centres_.columns());
  double sum = 0;
  for (std::size_t i = 0; i < points.rows(); ++i) sum += detail::nearest_row(centres_, points.row(i)).second;
  return sum;
}

}  // namespace kernelsearch
