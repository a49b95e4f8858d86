// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <utility>

#include "kernelsearch/model/feature_matrix.hpp"

namespace kernelsearch {

KERNELSEARCH_INLINE FeatureMatrix::FeatureMatrix(std::size_t columns, std::vector<double> values)
    : columns_(columns), values_(std::move(values)) {
  if (columns_ == 0 || values_.size() % columns_ != 0)
    refuse(values_.size(), "give whole rows of at least one column");
}

KERNELSEARCH_INLINE void FeatureMatrix::add_row(std::span<const double> row) {
  if (row.size() != columns_) refuse(row.size(), "give one number for each column");
  values_.insert(values_.end(), row.begin(), row.end());
}

KERNELSEARCH_INLINE void FeatureMatrix::add_row() {
  values_.resize(values_.size() + columns_);
}

KERNELSEARCH_INLINE void FeatureMatrix::reserve(std::size_t rows) {
  values_.reserve(rows * columns_);
}

KERNELSEARCH_INLINE void FeatureMatrix::refuse(std::size_t given, const char* todo) const {
  detail::raise<ConfigError>("these are not rows of the matrix",
                             std::to_string(given) + " numbers for " + std::to_string(columns_) + " columns",
                             todo);
}

}  // namespace kernelsearch
