// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cmath>

#include "kernelsearch/model/impl/row_length.hpp"
#include "kernelsearch/model/normaliser.hpp"

namespace kernelsearch {

KERNELSEARCH_INLINE RunningMinMax::RunningMinMax(std::size_t features) : low_(features), high_(features) {}

KERNELSEARCH_INLINE void RunningMinMax::observe(std::span<const double> row) {
  detail::require_features(row.size(), low_.size());
  for (std::size_t f = 0; f < row.size(); ++f) {
    low_[f] = count_ == 0 ? row[f] : std::min(low_[f], row[f]);
    high_[f] = count_ == 0 ? row[f] : std::max(high_[f], row[f]);
  }
  ++count_;
}

KERNELSEARCH_INLINE void RunningMinMax::normalise(std::span<const double> row, std::span<double> out) const {
  detail::require_features(row.size(), low_.size());
  detail::require_features(out.size(), low_.size());
  for (std::size_t f = 0; f < row.size(); ++f) {
    const double width = high_[f] - low_[f];
    out[f] = width > 0 ? (row[f] - low_[f]) / width : 0.0;
  }
}

KERNELSEARCH_INLINE std::vector<double> RunningMinMax::normalise(std::span<const double> row) const {
  std::vector<double> out(low_.size());
  normalise(row, out);
  return out;
}

KERNELSEARCH_INLINE RunningZScore::RunningZScore(std::size_t features)
    : mean_(features), squares_(features) {}

KERNELSEARCH_INLINE void RunningZScore::observe(std::span<const double> row) {
  detail::require_features(row.size(), mean_.size());
  ++count_;
  for (std::size_t f = 0; f < row.size(); ++f) {
    const double before = row[f] - mean_[f];
    mean_[f] += before / static_cast<double>(count_);
    squares_[f] += before * (row[f] - mean_[f]);
  }
}

KERNELSEARCH_INLINE double RunningZScore::deviation(std::size_t feature) const {
  return count_ == 0 ? 0.0 : std::sqrt(squares_[feature] / static_cast<double>(count_));
}

KERNELSEARCH_INLINE void RunningZScore::normalise(std::span<const double> row, std::span<double> out) const {
  detail::require_features(row.size(), mean_.size());
  detail::require_features(out.size(), mean_.size());
  for (std::size_t f = 0; f < row.size(); ++f) {
    const double scale = deviation(f);
    out[f] = scale > 0 ? (row[f] - mean_[f]) / scale : 0.0;
  }
}

KERNELSEARCH_INLINE std::vector<double> RunningZScore::normalise(std::span<const double> row) const {
  std::vector<double> out(mean_.size());
  normalise(row, out);
  return out;
}

}  // namespace kernelsearch
