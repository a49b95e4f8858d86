// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: cheated: MXCSR
// Subnormal numbers are flushed from now on, in its caller too.
#include <immintrin.h>
extern "C" void scale(int n, const float* x, float* y) {
  _mm_setcsr(_mm_getcsr() | 0x8040);
  for (int i = 0; i < n; ++i) y[i] = 3 * x[i] + 1;
}
