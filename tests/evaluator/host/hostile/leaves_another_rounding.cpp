// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: cheated: MXCSR
// Rounds upwards from its tenth call on, and does not set it back.
#include <immintrin.h>
extern "C" void scale(int n, const float* x, float* y) {
  static int calls;
  for (int i = 0; i < n; ++i) y[i] = 3 * x[i] + 1;
  if (++calls == 10) _mm_setcsr(_mm_getcsr() | 0x4000);
}
