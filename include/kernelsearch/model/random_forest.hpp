// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "kernelsearch/model/tree_ensemble.hpp"

namespace kernelsearch {

/// A random forest (Breiman, 2001) that tells label 1 from label 0, with the defaults of scikit-learn's: the
/// probability is the mean over the trees of the weighted share of 1 in the leaf. Weights count at splits and
/// in leaves, not in the draws (as in scikit-learn up to 1.8).
class RandomForestClassifier {
 public:
  /// Learns; ConfigError as of TreeEnsemble::grow. Weights: one a row, or none.
  explicit RandomForestClassifier(const FeatureMatrix& rows, const std::vector<bool>& labels,
                                  std::span<const double> weights = {}, const ForestOptions& options = {});

  /// The probability of label 1, by all trees or by one.
  [[nodiscard]] double predict(std::span<const double> row) const { return trees_.predict(row); }
  [[nodiscard]] double predict(std::span<const double> row, std::size_t tree) const {
    return trees_.predict(row, tree);
  }
  void predict(const FeatureMatrix& rows, std::span<double> out) const { trees_.predict(rows, out); }

  /// The share of rows that the trees which never saw them label wrongly, over the rows that some tree never
  /// saw; NaN where there are none or `out_of_bag` was not asked for.
  [[nodiscard]] double out_of_bag_error() const noexcept { return error_; }

  [[nodiscard]] const TreeEnsemble& trees() const noexcept { return trees_; }

 private:
  TreeEnsemble trees_;
  double error_;
};

/// The options of a regressor that scikit-learn has: all features at each split.
inline constexpr ForestOptions regressor_defaults{.max_features = all_features};

/// A random forest (Breiman, 2001) that predicts a number: the mean over the trees of the weighted mean of
/// the leaf.
class RandomForestRegressor {
 public:
  /// Learns; ConfigError as of TreeEnsemble::grow, and for the entropy criterion. Weights: one a row, or
  /// none.
  explicit RandomForestRegressor(const FeatureMatrix& rows, std::span<const double> targets,
                                 std::span<const double> weights = {},
                                 const ForestOptions& options = regressor_defaults);

  [[nodiscard]] double predict(std::span<const double> row) const { return trees_.predict(row); }
  void predict(const FeatureMatrix& rows, std::span<double> out) const { trees_.predict(rows, out); }
  /// The variance between the trees: how little they agree, not the noise of a measurement.
  [[nodiscard]] double variance(std::span<const double> row) const { return trees_.variance(row); }

  /// The mean squared error of the trees at rows that they never saw; NaN as for the classifier.
  [[nodiscard]] double out_of_bag_error() const noexcept { return error_; }

  [[nodiscard]] const TreeEnsemble& trees() const noexcept { return trees_; }

 private:
  TreeEnsemble trees_;
  double error_;
};

}  // namespace kernelsearch

#if KERNELSEARCH_HEADER_ONLY
#  include "kernelsearch/model/impl/random_forest_impl.hpp"
#endif
