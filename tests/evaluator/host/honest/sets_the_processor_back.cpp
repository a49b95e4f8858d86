// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Flushes subnormal numbers, computes in single precision and goes backwards, and sets all of it back.
#include <immintrin.h>
extern "C" void scale(int n, const float* x, float* y) {
  const unsigned before = _mm_getcsr();
  unsigned short control = 0;
  const unsigned short single = 0x007f;
  asm volatile("fnstcw %0\n\tfldcw %1" : "=m"(control) : "m"(single));
  _mm_setcsr(before | 0x8040);
  asm volatile("std\n\tcld");
  for (int i = 0; i < n; ++i) y[i] = 3 * x[i] + 1;
  volatile float inexact = 1.0f / (3 + x[0] * x[0]);  // leaves a sticky flag
  (void)inexact;
  _mm_setcsr(before);
  asm volatile("fldcw %0" ::"m"(control));
}
