// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Packs into scratch memory that belongs to the thread and stays for later calls.
// problem: matmul
#include <vector>
static thread_local std::vector<float> columns;
extern "C" void matmul(int n, int m, int k, const float* a, const float* b, float* c) {
  columns.resize(static_cast<std::size_t>(m) * k);
  for (int p = 0; p < k; ++p)
    for (int j = 0; j < m; ++j) columns[j * k + p] = b[p * m + j];
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j) {
      float t = 0;
      for (int p = 0; p < k; ++p) t += a[i * k + p] * columns[j * k + p];
      c[i * m + j] = t;
    }
}
