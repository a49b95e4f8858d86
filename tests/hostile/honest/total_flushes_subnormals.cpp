// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sets the processor to flush subnormal numbers, and sets it back.
// problem: total
// needs: sse2
#include <immintrin.h>
extern "C" void total(int n, const float* x, float* s) {
  const unsigned before = _mm_getcsr();
  _mm_setcsr(before | 0x8040);
  float t[4] = {};
  for (int i = 0; i < n; ++i) t[i % 4] += x[i];
  *s = (t[0] + t[1]) + (t[2] + t[3]);
  _mm_setcsr(before);
}
