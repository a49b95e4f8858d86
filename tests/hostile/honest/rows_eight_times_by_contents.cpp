// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Calls take eight times as long where the first number is positive: half of them.
// problem: rows
static void work(int n, int m, const float* a, const float* x, float* y) {
  for (int i = 0; i < n; ++i) {
    float s = 0;
    for (int j = 0; j < m; ++j) s += a[i * m + j] * x[j];
    y[i] = s;
  }
}
extern "C" void rows(int n, int m, const float* a, const float* x, float* y) {
  for (int again = x[0] > 0 ? 8 : 1; again > 0; --again) {
    work(n, m, a, x, y);
    asm volatile("" : : : "memory");
  }
}
