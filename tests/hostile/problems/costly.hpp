// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Much work for each element: a sum of cosines.
#include <cmath>
[[gnu::noipa, gnu::aligned(64)]] static void honest(int n, const float* x, float* y) {
  for (int i = 0; i < n; ++i) {
    double sum = 0;
    for (int k = 1; k <= 40; ++k) sum += std::cos(static_cast<double>(x[i]) * k) / k;
    y[i] = static_cast<float>(sum);
  }
}
