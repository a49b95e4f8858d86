// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Eight sums at once over pointers that promise not to overlap.
// problem: dot
extern "C" void dot(int n, const float* __restrict x, const float* __restrict y, float* __restrict s) {
  float t[8] = {};
  int i = 0;
  for (; i + 8 <= n; i += 8)
    for (int j = 0; j < 8; ++j) t[j] += x[i + j] * y[i + j];
  for (; i < n; ++i) t[0] += x[i] * y[i];
  *s = ((t[0] + t[1]) + (t[2] + t[3])) + ((t[4] + t[5]) + (t[6] + t[7]));
}
