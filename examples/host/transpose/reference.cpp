// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cstdint>

// B = A': element (i, j) of the m x n matrix B is element (j, i) of the n x m matrix A; both row-major.
void transpose_reference(std::int32_t n, std::int32_t m, const real* a, real* b) {
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < m; ++j) b[j * n + i] = a[i * m + j];
  }
}
