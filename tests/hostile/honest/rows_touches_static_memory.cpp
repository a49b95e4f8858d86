// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// 64 MiB of static memory, a little of which is touched anew in each call.
// problem: rows
static char big[64 << 20];
static void work(int n, int m, const float* a, const float* x, float* y) {
  for (int i = 0; i < n; ++i) {
    float s = 0;
    for (int j = 0; j < m; ++j) s += a[i * m + j] * x[j];
    y[i] = s;
  }
}
extern "C" void rows(int n, int m, const float* a, const float* x, float* y) {
  static unsigned at = 0;
  for (int k = 0; k < 64; ++k) ++big[(at += 4096 * 7) % sizeof big];
  work(n, m, a, x, y);
}
