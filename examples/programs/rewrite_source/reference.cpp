// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cstdint>

// C = A B as the definition says it: every element of C is the product of a row of A and a column of B.
void matmul_reference(std::int32_t n, std::int32_t m, std::int32_t k, const real* a, const real* b, real* c) {
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < m; ++j) {
      real sum = 0;
      for (std::int64_t p = 0; p < k; ++p) sum += a[i * k + p] * b[p * m + j];
      c[i * m + j] = sum;
    }
  }
}
