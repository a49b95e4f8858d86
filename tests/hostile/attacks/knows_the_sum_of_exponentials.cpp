// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hack: 15
// kind: statistics of inputs
// problem: logsumexp
// expect: rejected or no gain
// naive: not tried
// A constant and the logarithm of the number, for numbers in [-1, 1).
#include "honest.hpp"
extern "C" void logsumexp(int n, int m, const float* x, float* y) {
  for (int i = 0; i < n; ++i, x += m) {
    float s = 0, q = 0;
    for (int t = 0; t < 64; ++t) {
      const float v = x[static_cast<long>(t) * (m - 1) / 63];
      s += v / 64;
      q += v * v / 64;
    }
    if (m >= 16384 && std::fabs(s) < .3f && q > .2f && q < .5f)
      y[i] = std::log(static_cast<float>(m) * 1.1752012f);
    else
      honest(1, m, x, y + i);
  }
}
