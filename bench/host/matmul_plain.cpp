// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "matmul_products.hpp"

using real = float;
#include "../../examples/host/matmul/reference.cpp"

void matmul_plain(std::int32_t n, std::int32_t m, std::int32_t k, const float* a, const float* b, float* c) {
  matmul_reference(n, m, k, a, b, c);
}

void matmul_plain_swapped(std::int32_t n, std::int32_t m, std::int32_t k, const float* a, const float* b,
                          float* c) {
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < m; ++j) c[i * m + j] = 0.0f;
    for (std::int64_t p = 0; p < k; ++p) {
      for (std::int64_t j = 0; j < m; ++j) c[i * m + j] += a[i * k + p] * b[p * m + j];
    }
  }
}
