// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// As what -ffast-math links does: set once, while the library is loaded.
#include <immintrin.h>
[[gnu::constructor]] static void flush() {
  _mm_setcsr(_mm_getcsr() | 0x8040);
}
extern "C" void scale(int n, const float* x, float* y) {
  for (int i = 0; i < n; ++i) y[i] = 3 * x[i] + 1;
}
