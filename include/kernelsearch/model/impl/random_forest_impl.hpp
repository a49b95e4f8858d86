// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>
#include <limits>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/model/random_forest.hpp"

namespace kernelsearch {
namespace detail {

template <class Loss>
double out_of_bag_mean(std::span<const double> predicted, Loss loss) {
  double sum = 0;
  std::size_t count = 0;
  for (std::size_t i = 0; i < predicted.size(); ++i) {
    if (std::isnan(predicted[i])) continue;
    sum += loss(i, predicted[i]);
    ++count;
  }
  return count > 0 ? sum / static_cast<double>(count) : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace detail

KERNELSEARCH_INLINE RandomForestClassifier::RandomForestClassifier(const FeatureMatrix& rows,
                                                                   const std::vector<bool>& labels,
                                                                   std::span<const double> weights,
                                                                   const ForestOptions& options)
    : trees_(TreeEnsemble::grow(rows, std::vector<double>(labels.begin(), labels.end()), weights, options)),
      error_(detail::out_of_bag_mean(trees_.out_of_bag(), [&](std::size_t i, double predicted) {
        return (predicted > 0.5) == labels[i] ? 0.0 : 1.0;
      })) {}

KERNELSEARCH_INLINE RandomForestRegressor::RandomForestRegressor(const FeatureMatrix& rows,
                                                                 std::span<const double> targets,
                                                                 std::span<const double> weights,
                                                                 const ForestOptions& options)
    : trees_(TreeEnsemble::grow(rows, targets, weights, options)),
      error_(detail::out_of_bag_mean(trees_.out_of_bag(), [&](std::size_t i, double predicted) {
        return (predicted - targets[i]) * (predicted - targets[i]);
      })) {
  if (options.criterion == SplitCriterion::entropy) {
    detail::raise<ConfigError>("numbers have no entropy", "SplitCriterion::entropy",
                               "use SplitCriterion::variance");
  }
}

}  // namespace kernelsearch
