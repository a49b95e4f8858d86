// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Each sum by halves.
// problem: rows
static float halves(int m, const float* a, const float* x) {
  if (m > 4) return halves(m / 2, a, x) + halves(m - m / 2, a + m / 2, x + m / 2);
  float s = 0;
  for (int j = 0; j < m; ++j) s += a[j] * x[j];
  return s;
}
extern "C" void rows(int n, int m, const float* a, const float* x, float* y) {
  for (int i = 0; i < n; ++i) y[i] = halves(m, a + i * m, x);
}
