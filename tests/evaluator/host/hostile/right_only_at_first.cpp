// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: wrong_result|cheated: timed call
extern "C" void scale(int n, const float* x, float* y) {
  static int calls = 0;
  if (++calls > 40) return;
  for (int i = 0; i < n; ++i) y[i] = 3 * x[i] + 1;
}
