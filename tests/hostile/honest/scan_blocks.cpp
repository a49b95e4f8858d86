// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Blocks of 64 by doubling steps, then what came before is added.
// problem: scan
#include <algorithm>
extern "C" void scan(int n, const int* x, int* y) {
  int before = 0;
  for (int begin = 0; begin < n; begin += 64) {
    const int count = std::min(64, n - begin);
    int block[64];
    std::copy(x + begin, x + begin + count, block);
    for (int step = 1; step < count; step *= 2)
      for (int i = count - 1; i >= step; --i) block[i] += block[i - step];
    for (int i = 0; i < count; ++i) y[begin + i] = before + block[i];
    before = y[begin + count - 1];
  }
}
