// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Flushes subnormal numbers and turns the direction of strings, and sets both back.
// problem: rows
// needs: sse2
#include <immintrin.h>
static void work(int n, int m, const float* a, const float* x, float* y) {
  for (int i = 0; i < n; ++i) {
    float s = 0;
    for (int j = 0; j < m; ++j) s += a[i * m + j] * x[j];
    y[i] = s;
  }
}
extern "C" void rows(int n, int m, const float* a, const float* x, float* y) {
  const unsigned before = _mm_getcsr();
  _mm_setcsr(before | 0x8040);
  asm volatile("std\n\tcld" : : : "memory", "cc");
  work(n, m, a, x, y);
  _mm_setcsr(before);
}
