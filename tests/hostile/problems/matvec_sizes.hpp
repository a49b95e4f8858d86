// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// y = a x, n x m.
[[gnu::noipa, gnu::aligned(64)]] static void honest(int n, int m, const float* a, const float* x, float* y) {
  for (int i = 0; i < n; ++i) {
    float s = 0;
    for (int j = 0; j < m; ++j) s += a[static_cast<long>(i) * m + j] * x[j];
    y[i] = s;
  }
}
