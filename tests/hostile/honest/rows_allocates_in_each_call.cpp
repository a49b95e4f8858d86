// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Allocates 8 MiB in each call, touches all its pages, and frees it.
// problem: rows
#include <algorithm>
#include <memory>
static void work(int n, int m, const float* a, const float* x, float* y) {
  for (int i = 0; i < n; ++i) {
    float s = 0;
    for (int j = 0; j < m; ++j) s += a[i * m + j] * x[j];
    y[i] = s;
  }
}
extern "C" void rows(int n, int m, const float* a, const float* x, float* y) {
  const std::unique_ptr<float[]> memory(new float[1 << 21]);
  for (int k = 0; k < 1 << 21; k += 1024) memory[k] = 0;
  std::copy(x, x + m, memory.get());
  work(n, m, a, memory.get(), y);
}
