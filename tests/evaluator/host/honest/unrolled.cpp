// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
extern "C" void scale(int n, const float* x, float* y) {
  int i = 0;
  for (; i + 4 <= n; i += 4) {
    y[i] = 3 * x[i] + 1;
    y[i + 1] = 3 * x[i + 1] + 1;
    y[i + 2] = 3 * x[i + 2] + 1;
    y[i + 3] = 3 * x[i + 3] + 1;
  }
  for (; i < n; ++i) y[i] = 3 * x[i] + 1;
}
