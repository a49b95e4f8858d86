// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

// C (n x m) = A (n x k) B (k x m), all row-major, each compiled with the flags that its file gets in
// CMakeLists.txt.

/// The example's kernel at the configuration of KERNELSEARCH_BENCH_MATMUL_CONFIG.
extern "C" void matmul(std::int32_t n, std::int32_t m, std::int32_t k, const float* a, const float* b,
                       float* c);

/// The example's reference in single precision.
void matmul_plain(std::int32_t n, std::int32_t m, std::int32_t k, const float* a, const float* b, float* c);

/// The same with its two inner loops swapped, which lets the compiler vectorise it.
void matmul_plain_swapped(std::int32_t n, std::int32_t m, std::int32_t k, const float* a, const float* b,
                          float* c);

/// Eigen's noalias product of MatrixXf.
void matmul_eigen(std::int32_t n, std::int32_t m, std::int32_t k, const float* a, const float* b, float* c);
