// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How far the rows of two matrices are from each other.
#include <cmath>
[[gnu::noipa, gnu::aligned(64)]] static void honest(int n, int m, const float* x, const float* z, float* y) {
  for (int i = 0; i < n; ++i, x += m, z += m) {
    float s = 0;
    for (int j = 0; j < m; ++j) s += (x[j] - z[j]) * (x[j] - z[j]);
    y[i] = std::sqrt(s);
  }
}
