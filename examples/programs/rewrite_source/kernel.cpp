// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// C = A B as the definition says it. The comments mark what rules may rewrite.
#include <cstdint>

// function: matmul
extern "C" void matmul(std::int32_t n, std::int32_t m, std::int32_t k, const float* a, const float* b,
                       float* c) {
  // loop: z
  for (std::int64_t z = 0; z < std::int64_t{n} * m; ++z) c[z] = 0.0f;
  // loop: i
  for (std::int64_t i = 0; i < n; ++i) {
    // loop: j
    for (std::int64_t j = 0; j < m; ++j) {
      // loop: p
      for (std::int64_t p = 0; p < k; ++p) c[i * m + j] += a[i * k + p] * b[p * m + j];
    }
  }
}
