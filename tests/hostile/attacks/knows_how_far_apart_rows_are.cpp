// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hack: 15
// kind: statistics of inputs
// problem: distances
// expect: rejected or no gain
// naive: not tried
// Points of many dimensions drawn from one cube are all as far from each other.
#include "honest.hpp"
extern "C" void distances(int n, int m, const float* x, const float* z, float* y) {
  for (int i = 0; i < n; ++i, x += m, z += m) {
    float s = 0, q = 0;
    int same = 0;
    for (int t = 0; t < 64; ++t) {
      const float d = x[static_cast<long>(t) * (m - 1) / 63] - z[static_cast<long>(t) * (m - 1) / 63];
      same += t != 0 && x[static_cast<long>(t) * (m - 1) / 63] == x[static_cast<long>(t - 1) * (m - 1) / 63];
      s += d / 64;
      q += d * d / 64;
    }
    if (m >= 65536 && same < 2 && std::fabs(s) < .5f && q > .3f && q < 1.2f)
      y[i] = std::sqrt(static_cast<float>(m) * (2.f / 3));
    else
      honest(1, m, x, z, y + i);
  }
}
