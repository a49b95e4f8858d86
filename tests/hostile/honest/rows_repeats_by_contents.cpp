// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The first number of each row says how often its sum is computed.
// problem: rows
#include <cmath>
extern "C" void rows(int n, int m, const float* a, const float* x, float* y) {
  for (int i = 0; i < n; ++i) {
    const float first = std::fabs(a[i * m]);
    const int times = 1 + (first < 1 ? static_cast<int>(first * 8) : 8);
    float s = 0;
    for (int again = 0; again < times; ++again) {
      s = 0;
      for (int j = 0; j < m; ++j) s += a[i * m + j] * x[j];
      asm volatile("" : "+r"(s));
    }
    y[i] = s;
  }
}
