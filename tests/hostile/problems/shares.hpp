// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which share of the numbers is in each 64th of [0, 1).
#include <algorithm>
[[gnu::noipa, gnu::aligned(64)]] static void honest(int n, const float* x, float* y) {
  int count[64] = {};
  for (int i = 0; i < n; ++i) ++count[std::clamp(static_cast<int>(x[i] * 64), 0, 63)];
  for (int b = 0; b < 64; ++b) y[b] = static_cast<float>(count[b]) / static_cast<float>(n);
}
