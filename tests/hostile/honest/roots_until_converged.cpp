// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Newton's steps until one changes nothing: some numbers need few, others many.
// problem: roots
#include <cmath>
extern "C" void roots(int n, const float* x, float* y) {
  for (int i = 0; i < n; ++i) {
    float r = x[i];
    for (int step = 0; step < 200 && r != 0; ++step) {
      const float next = r - (r - x[i] / (r * r)) / 3;
      const bool same = std::fabs(next - r) <= 1e-6f * std::fabs(next);
      r = next;
      if (same) break;
    }
    y[i] = r;
  }
}
