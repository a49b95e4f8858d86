// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// y = a x, both of a generator.
[[gnu::noipa, gnu::aligned(64)]] static void some(int from, int to, int m, const float* a, const float* x,
                                                  float* y) {
  for (int i = from; i < to; ++i) {
    float s = 0;
    for (int j = 0; j < m; ++j) s += a[static_cast<long>(i) * m + j] * x[j];
    y[i] = s;
  }
}
static void honest(int n, int m, const float* a, const float* x, float* y) {
  some(0, n, m, a, x, y);
}
