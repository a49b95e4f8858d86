// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Inclusive prefix sums in place. Blocks make the chain of additions that wait for one another shorter.
#include <cstdint>

extern "C" void prefix_sum(std::int64_t n, double* values) {
  double before = 0;
  std::int64_t i = 0;
  if (METHOD == 1) {
    for (; i + BLOCK <= n; i += BLOCK) {
      double block[BLOCK], shifted[BLOCK];
      for (int k = 0; k < BLOCK; ++k) block[k] = values[i + k];
#pragma GCC unroll 5
      for (int by = 1; by < BLOCK; by *= 2) {  // Hillis and Steele, 1986
        for (int k = 0; k < BLOCK; ++k) shifted[k] = k >= by ? block[k - by] : 0.0;
        for (int k = 0; k < BLOCK; ++k) block[k] += shifted[k];
      }
      for (int k = 0; k < BLOCK; ++k) values[i + k] = block[k] + before;
      before += block[BLOCK - 1];
    }
  } else if (METHOD == 2) {
    for (; i + BLOCK <= n; i += BLOCK) {
      double sums[4] = {};  // of the block, so that the next one need not wait for this one's last element
      for (int k = 0; k < BLOCK; ++k) sums[k % 4] += values[i + k];
      double running = before;
      for (int k = 0; k < BLOCK; ++k) values[i + k] = running += values[i + k];
      before += (sums[0] + sums[1]) + (sums[2] + sums[3]);
    }
  }
  for (; i < n; ++i) values[i] = before += values[i];
}
