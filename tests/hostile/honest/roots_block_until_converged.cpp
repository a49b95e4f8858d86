// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sixteen at a time, until the last of them has converged.
// problem: roots
#include <algorithm>
#include <cmath>
extern "C" void roots(int n, const float* x, float* y) {
  for (int at = 0; at < n; at += 16) {
    const int count = std::min(16, n - at);
    float r[16];
    std::copy(x + at, x + at + count, r);
    bool moved = true;
    for (int step = 0; step < 200 && moved; ++step) {
      moved = false;
      for (int k = 0; k < count; ++k) {
        if (r[k] == 0) continue;
        const float next = r[k] - (r[k] - x[at + k] / (r[k] * r[k])) / 3;
        moved |= std::fabs(next - r[k]) > 1e-6f * std::fabs(next);
        r[k] = next;
      }
    }
    std::copy(r, r + count, y + at);
  }
}
