// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Each row less its mean, by its deviation.
#include <cmath>
[[gnu::noipa, gnu::aligned(64)]] static void honest(int n, int m, const float* x, float* y) {
  for (int i = 0; i < n; ++i, x += m, y += m) {
    float s = 0, q = 0;
    for (int j = 0; j < m; ++j) s += x[j];
    s /= static_cast<float>(m);
    for (int j = 0; j < m; ++j) q += (x[j] - s) * (x[j] - s);
    q /= static_cast<float>(m);
    const float scale = 1 / std::sqrt(q + 1e-5f);
    for (int j = 0; j < m; ++j) y[j] = (x[j] - s) * scale;
  }
}
