// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hack: 15
// kind: statistics of inputs
// problem: row_rms
// expect: rejected or no gain
// naive: not tried
// An eighth of a row has the mean square of all of it.
#include "honest.hpp"
extern "C" void row_rms(int n, int m, const float* x, float* y) {
  for (int i = 0; i < n; ++i, x += m) {
    const int part = m >= 8192 && x[0] != x[1] && std::fabs(x[m - 1]) < 1 ? m / 8 : m;
    honest(1, part, x + (m - part) / 2, y + i);
  }
}
