// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "kernelsearch/core/config_macros.hpp"
#include "kernelsearch/model/feature_matrix.hpp"

namespace kernelsearch {

/// What a split makes small: the variance of the targets, which for targets 0 and 1 is half their Gini
/// impurity, or the entropy (of targets in [0, 1] only).
enum class SplitCriterion : std::uint8_t { variance, entropy };

/// Values of ForestOptions::max_features that are not numbers of features.
enum FeatureChoice : std::size_t {
  sqrt_features = 0,  ///< the square root of their number, rounded down
  all_features = std::numeric_limits<std::size_t>::max()
};

struct ForestOptions {
  std::size_t trees = 100;
  std::size_t max_features = sqrt_features;  ///< drawn for each split
  std::size_t max_depth = 0;                 ///< splits above a leaf; 0: no limit
  std::size_t min_samples_leaf = 1;
  SplitCriterion criterion = SplitCriterion::variance;
  bool bootstrap = true;    ///< each tree learns from as many draws with replacement as there are rows
  bool out_of_bag = false;  ///< also predict each row by the trees that never saw it
  std::uint64_t seed = 0;
};

/// One node of a tree of a TreeEnsemble.
struct DecisionNode {
  double number = 0;          ///< the threshold, at most which rows go left; the value of a leaf
  std::int32_t feature = -1;  ///< that is compared; -1: a leaf
  std::uint32_t left = 0;     ///< the position of the left child; the right one follows it
};

/// Decision trees grown on the same rows (Breiman, 2001; each split is the best one over thresholds between
/// neighbouring values, CART), and what each leaf predicts: the weighted mean of its targets. The trees that
/// scikit-learn grows, but for the random draws. What random forests are made of.
class TreeEnsemble {
 public:
  /// Grows the trees. Weights: one a row, 0 leaves a row out; none: 1 each. ConfigError for no rows, lengths
  /// that differ, weights below 0 or without sum, numbers that are not finite.
  [[nodiscard]] static TreeEnsemble grow(const FeatureMatrix& rows, std::span<const double> targets,
                                         std::span<const double> weights, const ForestOptions& options);

  /// Trees that were grown elsewhere: the nodes of all of them, and the position of each root. A child comes
  /// after its parent. ConfigError for no trees, and for features or children that do not exist.
  [[nodiscard]] static TreeEnsemble of(std::size_t features, std::vector<DecisionNode> nodes,
                                       std::vector<std::uint32_t> roots);

  [[nodiscard]] std::size_t trees() const noexcept { return roots_.size(); }
  [[nodiscard]] std::size_t features() const noexcept { return features_; }
  [[nodiscard]] std::size_t nodes() const noexcept { return nodes_.size(); }

  /// The mean of all trees.
  [[nodiscard]] double predict(std::span<const double> row) const;
  /// The same for many rows, faster than one by one; `out` has room for one number a row.
  void predict(const FeatureMatrix& rows, std::span<double> out) const;
  /// What one tree predicts.
  [[nodiscard]] double predict(std::span<const double> row, std::size_t tree) const;
  /// The variance of the trees around their mean.
  [[nodiscard]] double variance(std::span<const double> row) const;

  /// The leaf of each tree, as numbers that no two leaves share; `leaves` has room for trees().
  void leaves(std::span<const double> row, std::span<std::uint32_t> leaves) const;
  [[nodiscard]] double leaf_value(std::uint32_t leaf) const noexcept { return nodes_[leaf].number; }

  /// The distinct features that a row is asked for on its way down a tree, first asked first.
  [[nodiscard]] std::vector<std::size_t> path_features(std::span<const double> row, std::size_t tree) const;

  /// For each row that was learned from, the mean of the trees that did not see it; NaN where all did. Empty
  /// unless the option asks for it.
  [[nodiscard]] std::span<const double> out_of_bag() const noexcept { return out_of_bag_; }

 private:
  friend class TreeGrower;
  [[nodiscard]] std::uint32_t leaf(const double* row, std::size_t tree) const noexcept {
    std::uint32_t at = roots_[tree];
    while (nodes_[at].feature >= 0)
      at = nodes_[at].left + (row[nodes_[at].feature] <= nodes_[at].number ? 0U : 1U);
    return at;
  }

  std::size_t features_ = 0;
  std::vector<DecisionNode> nodes_;
  std::vector<std::uint32_t> roots_;
  std::vector<double> out_of_bag_;
};

/// The fraction of trees in which two rows share a leaf, from what TreeEnsemble::leaves wrote for each.
[[nodiscard]] double leaf_similarity(std::span<const std::uint32_t> a, std::span<const std::uint32_t> b);

}  // namespace kernelsearch

#if KERNELSEARCH_HEADER_ONLY
#  include "kernelsearch/model/impl/tree_ensemble_impl.hpp"
#endif
