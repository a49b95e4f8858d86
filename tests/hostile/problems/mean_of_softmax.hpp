// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// y[i] = mean over j of softmax(x[i])[j]: a task that says less than it seems to.
#include <cmath>
[[gnu::noipa, gnu::aligned(64)]] static void honest(int n, int m, const float* x, float* y) {
  for (int i = 0; i < n; ++i) {
    float sum = 0, mean = 0;
    for (int j = 0; j < m; ++j) sum += std::exp(x[i * m + j]);
    for (int j = 0; j < m; ++j) mean += std::exp(x[i * m + j]) / sum;
    y[i] = mean / static_cast<float>(m);
  }
}
