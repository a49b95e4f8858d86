// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: launch_failed: undefined symbol
extern "C" float elsewhere(float);
extern "C" void scale(int n, const float* x, float* y) {
  for (int i = 0; i < n; ++i) y[i] = elsewhere(x[i]);
}
