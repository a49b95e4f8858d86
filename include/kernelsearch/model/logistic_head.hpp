// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "kernelsearch/core/config_macros.hpp"
#include "kernelsearch/model/feature_matrix.hpp"

namespace kernelsearch {

/// KernelBand gives the buffer and the L2 penalty but no numbers; these are ours.
struct LogisticHeadOptions {
  double learning_rate = 0.05;
  double l2 = 1e-3;           ///< of the weights; the bias is free
  std::size_t capacity = 32;  ///< examples that the buffer holds before they are learned from
};

/// Streaming logistic regression: the probability that a label is 1. Examples gather in a buffer; when it is
/// full, one epoch of stochastic gradient descent with L2 runs over it in order of arrival and empties it
/// (KernelBand v1, compatibility heads). The step is that of scikit-learn's SGDClassifier with a constant
/// rate. Starts at 0.5 everywhere.
class LogisticHead {
 public:
  explicit LogisticHead(std::size_t features, LogisticHeadOptions options = {});

  /// The probability of label 1; ConfigError, as below, for a row of another length.
  [[nodiscard]] double predict(std::span<const double> row) const;

  /// Appends an example and learns when the buffer is full; true then.
  bool add(std::span<const double> row, bool label);

  /// Learns from what the buffer holds now, however little, and empties it.
  void flush();

  /// Learns from pairs known before the search begins: `epochs` passes over them, in addition to the buffer.
  void warm_up(const FeatureMatrix& rows, const std::vector<bool>& labels, std::size_t epochs = 1);

  [[nodiscard]] std::span<const double> weights() const noexcept { return weights_; }
  [[nodiscard]] double bias() const noexcept { return bias_; }
  [[nodiscard]] std::size_t buffered() const noexcept { return labels_.size(); }

 private:
  void step(std::span<const double> row, bool label);

  LogisticHeadOptions options_;
  std::vector<double> weights_;
  double bias_ = 0.0;
  FeatureMatrix rows_;
  std::vector<bool> labels_;
};

}  // namespace kernelsearch

#if KERNELSEARCH_HEADER_ONLY
#  include "kernelsearch/model/impl/logistic_head_impl.hpp"
#endif
