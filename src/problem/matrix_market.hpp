// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kernelsearch/core/result.hpp"

namespace kernelsearch::detail {

/// A sparse matrix by rows; both halves of a symmetric one.
struct SparseMatrix {
  struct Entry {
    std::int64_t row = 0;  ///< from 0
    std::int64_t column = 0;
    double value = 1.0;
  };
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::vector<Entry> entries;  ///< by row, then column; those at one place as in the file
};

/// Reads the Matrix Market exchange format (Boisvert, Pozo, Remington, NISTIR 5935): coordinate matrices of
/// real numbers, integers or patterns (all values 1), general, symmetric or skew-symmetric. The error names
/// the line.
[[nodiscard]] Result<SparseMatrix, std::string> try_matrix_market(std::string_view text);

}  // namespace kernelsearch::detail
