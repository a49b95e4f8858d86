// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "kernelsearch/core/config_macros.hpp"
#include "kernelsearch/core/error.hpp"

namespace kernelsearch {

/// Rows of numbers for learners: one row an example, one column a feature, row after row in memory.
class FeatureMatrix {
 public:
  /// An empty matrix whose rows will have `columns` numbers, at least 1.
  explicit FeatureMatrix(std::size_t columns) : FeatureMatrix(columns, {}) {}

  /// A matrix of `values`, row after row; ConfigError where they do not fill whole rows.
  FeatureMatrix(std::size_t columns, std::vector<double> values);

  [[nodiscard]] std::size_t rows() const noexcept { return values_.size() / columns_; }
  [[nodiscard]] std::size_t columns() const noexcept { return columns_; }
  [[nodiscard]] bool empty() const noexcept { return values_.empty(); }
  [[nodiscard]] std::span<const double> values() const noexcept { return values_; }

  [[nodiscard]] std::span<const double> row(std::size_t i) const noexcept {
    return {values_.data() + i * columns_, columns_};
  }
  [[nodiscard]] std::span<double> row(std::size_t i) noexcept {
    return {values_.data() + i * columns_, columns_};
  }

  /// Appends a row of columns() numbers; ConfigError for another length.
  void add_row(std::span<const double> row);

  /// Appends a row of zeros, to be written through row(rows() - 1).
  void add_row();

  void reserve(std::size_t rows);
  void clear() noexcept { values_.clear(); }

 private:
  [[noreturn]] void refuse(std::size_t given, const char* todo) const;

  std::size_t columns_;
  std::vector<double> values_;
};

}  // namespace kernelsearch

#if KERNELSEARCH_HEADER_ONLY
#  include "kernelsearch/model/impl/feature_matrix_impl.hpp"
#endif
