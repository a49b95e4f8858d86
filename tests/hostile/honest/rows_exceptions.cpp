// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An exception in every sixteenth row, caught there.
// problem: rows
#include <stdexcept>
static void work(int n, int m, const float* a, const float* x, float* y) {
  for (int i = 0; i < n; ++i) {
    float s = 0;
    for (int j = 0; j < m; ++j) s += a[i * m + j] * x[j];
    y[i] = s;
  }
}
extern "C" void rows(int n, int m, const float* a, const float* x, float* y) {
  for (int i = 0; i < n; ++i) try {
      if (i % 16 == 0) throw std::runtime_error("x");
      work(1, m, a + i * m, x, y + i);
    } catch (const std::exception&) {
      work(1, m, a + i * m, x, y + i);
    }
}
