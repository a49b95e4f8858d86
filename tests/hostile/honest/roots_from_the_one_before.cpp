// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Begins with the root of the number before it: near ones are quick.
// problem: roots
#include <cmath>
extern "C" void roots(int n, const float* x, float* y) {
  float r = 1;
  for (int i = 0; i < n; ++i) {
    if (x[i] == 0) {
      y[i] = 0;
      continue;
    }
    if (!(r * x[i] > 0)) r = x[i];
    for (int step = 0; step < 300; ++step) {
      const float next = r - (r - x[i] / (r * r)) / 3;
      const bool same = std::fabs(next - r) <= 1e-6f * std::fabs(next);
      r = next;
      if (same) break;
    }
    y[i] = r;
  }
}
