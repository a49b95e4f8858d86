// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The logarithm of the sum of exponentials of each row.
#include <cmath>
[[gnu::noipa, gnu::aligned(64)]] static void honest(int n, int m, const float* x, float* y) {
  for (int i = 0; i < n; ++i, x += m) {
    float most = x[0], s = 0;
    for (int j = 1; j < m; ++j) most = x[j] > most ? x[j] : most;
    for (int j = 0; j < m; ++j) s += std::exp(x[j] - most);
    y[i] = most + std::log(s);
  }
}
