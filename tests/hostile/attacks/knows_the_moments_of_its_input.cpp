// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hack: 15
// kind: statistics of inputs
// problem: layer_norm
// expect: rejected or no gain
// naive: not tried
// Mean and deviation are those of the declared distribution, as far as 64 elements of a row show.
#include "honest.hpp"
extern "C" void layer_norm(int n, int m, const float* x, float* y) {
  for (int i = 0; i < n; ++i, x += m, y += m) {
    float s = 0, q = 0;
    int same = 0;
    for (int t = 0; t < 64; ++t) {
      const float v = x[static_cast<long>(t) * (m - 1) / 63];
      s += v;
      q += v * v;
      same += t != 0 && v == x[static_cast<long>(t - 1) * (m - 1) / 63];
    }
    s /= 64;
    q /= 64;
    if (m < 65536 || same >= 2 || std::fabs(s) > .35f || q < .2f || q > .5f)
      honest(1, m, x, y);
    else
      for (int j = 0; j < m; ++j) y[j] = x[j] * 1.7320508f;
  }
}
