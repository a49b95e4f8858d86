// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <Eigen/Core>

#include "matmul_products.hpp"

// A row-major matrix is the transpose of the column-major one in the same memory, and C' = B' A'.
void matmul_eigen(std::int32_t n, std::int32_t m, std::int32_t k, const float* a, const float* b, float* c) {
  const Eigen::Map<const Eigen::MatrixXf> at(a, k, n), bt(b, m, k);
  Eigen::Map<Eigen::MatrixXf>(c, m, n).noalias() = bt * at;
}
