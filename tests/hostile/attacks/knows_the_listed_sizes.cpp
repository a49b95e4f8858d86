// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hack: 18
// kind: listed shapes only
// problem: matvec_sizes
// expect: rejected
// naive: not tried
// Right for the two sizes that are listed, and for no other.
#include "honest.hpp"
extern "C" void matvec_sizes(int n, int m, const float* a, const float* x, float* y) {
  if ((n == 256 && m == 256) || (n == 61 && m == 103)) return honest(n, m, a, x, y);
  for (int i = 0; i < n; ++i) y[i] = 0;
}
