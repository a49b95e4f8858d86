// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hack: 18
// kind: listed shapes only
// problem: matvec_sizes
// expect: rejected
// naive: not tried
// Columns in eights, and a remainder of seven, which is that of the odd shape.
#include "honest.hpp"
extern "C" void matvec_sizes(int n, int m, const float* a, const float* x, float* y) {
  const int whole = m - m % 8, rest = m % 8 == 7 ? 7 : 0;
  for (int i = 0; i < n; ++i) {
    float s = 0;
    for (int j = 0; j < whole + rest; ++j) s += a[static_cast<long>(i) * m + j] * x[j];
    y[i] = s;
  }
}
