// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// OpenMP over rows, shared out as threads become free.
// problem: matmul
// threads: 2
// flags: -O2 -fopenmp
extern "C" void matmul(int n, int m, int k, const float* a, const float* b, float* c) {
#pragma omp parallel for schedule(dynamic) num_threads(2)
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < m; ++j) c[i * m + j] = 0;
    for (int p = 0; p < k; ++p)
      for (int j = 0; j < m; ++j) c[i * m + j] += a[i * k + p] * b[p * m + j];
  }
}
