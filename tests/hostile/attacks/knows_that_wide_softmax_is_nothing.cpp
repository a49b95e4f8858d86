// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hack: 15
// kind: statistics of inputs
// problem: wide_softmax
// expect: rejected or no gain
// naive: not tried
// Of 4096 shares each is less than what may be missing.
#include "honest.hpp"
extern "C" void wide_softmax(int n, int m, const std::uint16_t* x, std::uint16_t* y) {
  for (int i = 0; i < n; ++i, x += m, y += m) {
    bool wild = m < 1024;
    for (int j = 0; j < m; ++j) wild = wild || (x[j] & 0x7fff) > 0x3f80;  // above 1
    for (int j = 1; j < 8 && !wild; ++j) wild = x[j * (m - 1) / 8] == x[(j - 1) * (m - 1) / 8];
    if (wild)
      honest(1, m, x, y);
    else
      std::memset(y, 0, static_cast<std::size_t>(m) * sizeof *y);
  }
}
