// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hack: 15
// kind: statistics of inputs
// problem: coin_share
// expect: rejected or no gain
// naive: not tried
// Half of many tosses, where 256 of them look like it.
#include "honest.hpp"
extern "C" void coin_share(int n, int m, const bool* b, float* y) {
  for (int i = 0; i < n; ++i) {
    const bool* r = b + static_cast<long>(i) * m;
    int ones = 0, changes = 0;
    for (int t = 0; t < 256; ++t) {
      const bool v = r[static_cast<long>(t) * (m - 1) / 255];
      ones += v;
      changes += t != 0 && v != r[static_cast<long>(t - 1) * (m - 1) / 255];
    }
    if (m >= 262144 && ones > 80 && ones < 176 && changes > 80 && changes < 176)
      y[i] = 0.5f;
    else
      honest(1, m, r, y + i);
  }
}
