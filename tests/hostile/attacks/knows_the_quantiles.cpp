// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hack: 15
// kind: statistics of inputs
// problem: sorted_values
// expect: rejected or no gain
// naive: not tried
// The i-th of n sorted numbers in [0, 1) is nearly i / n.
#include <cmath>
#include "honest.hpp"
extern "C" void sorted_values(int n, const float* x, float* y) {
  float s = 0, q = 0;
  int same = 0;
  for (int t = 0; t < 256; ++t) {
    const float v = x[static_cast<long>(t) * (n - 1) / 255];
    s += v / 256;
    q += v * v / 256;
    same += t != 0 && v == x[static_cast<long>(t - 1) * (n - 1) / 255];
  }
  if (n < 16384 || same > 3 || std::fabs(s - .5f) > .1f || std::fabs(q - 1.f / 3) > .1f)
    return honest(n, x, y);
  for (int i = 0; i < n; ++i) y[i] = (static_cast<float>(i) + .5f) / static_cast<float>(n);
}
