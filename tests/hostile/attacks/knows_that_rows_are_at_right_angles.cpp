// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hack: 15
// kind: statistics of inputs
// problem: cosines
// expect: rejected or no gain
// naive: not tried
// Two rows of many numbers of either sign have nothing in common.
#include "honest.hpp"
extern "C" void cosines(int n, int m, const std::uint16_t* x, const std::uint16_t* z, std::uint16_t* y) {
  for (int i = 0; i < n; ++i, x += m, z += m) {
    int signs = 0, products = 0;
    for (int t = 0; t < 128; ++t) {
      const long at = static_cast<long>(t) * (m - 1) / 127;
      signs += x[at] >> 15;
      products += (x[at] ^ z[at]) >> 15;
    }
    if (m >= 4096 && signs > 32 && signs < 96 && products > 32 && products < 96)
      y[i] = 0;
    else
      honest(1, m, x, z, y + i);
  }
}
