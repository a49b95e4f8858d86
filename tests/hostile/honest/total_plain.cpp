// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One after the other.
// problem: total
extern "C" void total(int n, const float* x, float* s) {
  float t = 0;
  for (int i = 0; i < n; ++i) t += x[i];
  *s = t;
}
