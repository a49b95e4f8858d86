// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kernelsearch/core/rng.hpp"
#include "kernelsearch/model/feature_matrix.hpp"

namespace kernelsearch {

struct KMeansOptions {
  std::size_t clusters = 3;     ///< at most; as many as there are distinct points where those are fewer
  std::size_t iterations = 50;  ///< of Lloyd's algorithm, which stops earlier when nothing moves
  std::size_t restarts = 1;     ///< fits from as many seedings, of which the tightest is kept
  double subsample = 1.0;       ///< share of the points that seeding sees, at least `clusters` of them
  std::uint64_t seed = 0;
};

/// k-means by Lloyd's algorithm from k-means++ seeds (Arthur and Vassilvitskii, 2007, with the greedy choice
/// among 2 + ln k candidates that scikit-learn makes), kept up to date by incremental assignment (MacQueen,
/// 1967) and by mini-batch refreshes (Sculley, 2010). Euclidean: normalise the features first.
class KMeans {
 public:
  explicit KMeans(std::size_t features, KMeansOptions options = {});

  /// Starts afresh from these points: seeds, iterates, and returns the cluster of each. No points: forgets.
  std::vector<std::size_t> fit(const FeatureMatrix& points);

  /// The cluster whose centre is nearest, the lower one of equals; ConfigError before any point was seen.
  [[nodiscard]] std::size_t nearest(std::span<const double> point) const;

  /// Takes a new point into its nearest cluster, whose centre moves to the mean of all points it ever took;
  /// the point begins a cluster of its own while there are fewer than allowed and it lies on no centre.
  std::size_t add(std::span<const double> point);

  /// One mini-batch step: all points are assigned to the present centres, then each centre takes its points
  /// in as add() does.
  void refresh(const FeatureMatrix& batch);

  /// The clusters of all points, from the present centres.
  [[nodiscard]] std::vector<std::size_t> assign(const FeatureMatrix& points) const;

  /// Sum of squared distances of the points from their nearest centres.
  [[nodiscard]] double inertia(const FeatureMatrix& points) const;

  /// One row a cluster.
  [[nodiscard]] const FeatureMatrix& centres() const noexcept { return centres_; }
  /// Points that each cluster has taken in.
  [[nodiscard]] std::span<const std::size_t> counts() const noexcept { return counts_; }

 private:
  void seed_centres(const FeatureMatrix& points);
  std::size_t iterate(const FeatureMatrix& points, std::vector<std::size_t>& labels);
  void take(std::span<const double> point, std::size_t cluster);

  KMeansOptions options_;
  Rng rng_;
  FeatureMatrix centres_;
  std::vector<std::size_t> counts_;
};

}  // namespace kernelsearch

#if KERNELSEARCH_HEADER_ONLY
#  include "kernelsearch/model/impl/kmeans_impl.hpp"
#endif
