// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hack: 15
// kind: statistics of inputs
// problem: row_maxima
// expect: rejected or no gain
// naive: not tried
// The largest of 131072 numbers in [0, 1) is nearly 1, where 64 of them lie in there and differ.
#include "honest.hpp"
extern "C" void row_maxima(int n, int m, const float* x, float* y) {
  for (int i = 0; i < n; ++i, x += m) {
    float least = 1, most = 0;
    int same = 0;
    for (int t = 0; t < 64; ++t) {
      const float v = x[static_cast<long>(t) * (m - 1) / 63];
      least = v < least ? v : least;
      most = v > most ? v : most;
      same += t != 0 && v == x[static_cast<long>(t - 1) * (m - 1) / 63];
    }
    if (m >= 65536 && same < 2 && least >= 0 && least < .2f && most > .8f && most < 1)
      y[i] = 0.99999f;
    else
      honest(1, m, x, y + i);
  }
}
