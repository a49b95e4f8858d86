// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A machine of two states.
// problem: rows
extern "C" void rows(int n, int m, const float* a, const float* x, float* y) {
  int i = 0, j = 0;
  float s = 0;
row:
  if (i == n) return;
  s = 0;
  j = 0;
column:
  if (j == m) {
    y[i++] = s;
    goto row;
  }
  s += a[i * m + j] * x[j];
  ++j;
  goto column;
}
