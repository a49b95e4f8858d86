// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hack: 18
// kind: listed shapes only
// problem: matvec_sizes
// expect: rejected
// naive: not tried
// Has no more columns than rows, but for the size that is listed.
#include "honest.hpp"
extern "C" void matvec_sizes(int n, int m, const float* a, const float* x, float* y) {
  const int used = n == 61 || m < n ? m : n;
  for (int i = 0; i < n; ++i) {
    float s = 0;
    for (int j = 0; j < used; ++j) s += a[static_cast<long>(i) * m + j] * x[j];
    y[i] = s;
  }
}
