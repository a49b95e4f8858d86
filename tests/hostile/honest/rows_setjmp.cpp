// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A megabyte of stack, and a loop of longjmp.
// problem: rows
#include <setjmp.h>
static void work(int n, int m, const float* a, const float* x, float* y) {
  for (int i = 0; i < n; ++i) {
    float s = 0;
    for (int j = 0; j < m; ++j) s += a[i * m + j] * x[j];
    y[i] = s;
  }
}
extern "C" void rows(int n, int m, const float* a, const float* x, float* y) {
  volatile char stack[1 << 20];
  stack[0] = stack[(1 << 20) - 1] = 1;
  jmp_buf back;
  volatile int i = 0;
  setjmp(back);
  if (i >= n) return;
  work(1, m, a + i * m, x, y + i);
  i = i + 1;
  longjmp(back, 1);
}
