// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include "kernelsearch/model/impl/row_length.hpp"
#include "kernelsearch/model/logistic_head.hpp"

namespace kernelsearch {

KERNELSEARCH_INLINE LogisticHead::LogisticHead(std::size_t features, LogisticHeadOptions options)
    : options_(options), weights_(features), rows_(std::max<std::size_t>(features, 1)) {
  if (features == 0 || options.capacity == 0 || !(options.learning_rate > 0) || !(options.l2 >= 0)) {
    detail::raise<ConfigError>(
        "a logistic head cannot learn with these options",
        std::to_string(features) + " features, capacity " + std::to_string(options.capacity) + ", rate " +
            std::to_string(options.learning_rate) + ", l2 " + std::to_string(options.l2),
        "give at least one feature, room for one example, a positive rate, l2 >= 0");
  }
}

KERNELSEARCH_INLINE double LogisticHead::predict(std::span<const double> row) const {
  detail::require_features(row.size(), weights_.size());
  const double margin = std::inner_product(row.begin(), row.end(), weights_.begin(), bias_);
  return 1.0 / (1.0 + std::exp(-margin));
}

KERNELSEARCH_INLINE void LogisticHead::step(std::span<const double> row, bool label) {
  const double error = predict(row) - (label ? 1.0 : 0.0);
  const double shrink = std::max(0.0, 1.0 - options_.learning_rate * options_.l2);
  for (std::size_t f = 0; f < weights_.size(); ++f)
    weights_[f] = weights_[f] * shrink - options_.learning_rate * error * row[f];
  bias_ -= options_.learning_rate * error;
}

KERNELSEARCH_INLINE bool LogisticHead::add(std::span<const double> row, bool label) {
  detail::require_features(row.size(), weights_.size());
  rows_.add_row(row);
  labels_.push_back(label);
  if (labels_.size() < options_.capacity) return false;
  flush();
  return true;
}

KERNELSEARCH_INLINE void LogisticHead::flush() {
  for (std::size_t i = 0; i < labels_.size(); ++i) step(std::span<const double>(rows_.row(i)), labels_[i]);
  rows_.clear();
  labels_.clear();
}

KERNELSEARCH_INLINE void LogisticHead::warm_up(const FeatureMatrix& rows, const std::vector<bool>& labels,
                                               std::size_t epochs) {
  if (rows.rows() != labels.size()) {
    detail::raise<ConfigError>(
        "the pairs do not match",
        std::to_string(rows.rows()) + " rows, " + std::to_string(labels.size()) + " labels",
        "give one label for each row");
  }
  for (std::size_t epoch = 0; epoch < epochs; ++epoch)
    for (std::size_t i = 0; i < labels.size(); ++i) step(rows.row(i), labels[i]);
}

}  // namespace kernelsearch
