// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Additions of fields within a word.
// problem: bits
#include <cstdint>
extern "C" void bits(int n, const std::uint32_t* x, std::uint32_t* y) {
  for (int i = 0; i < n; ++i) {
    std::uint32_t v = x[i];
    v -= v >> 1 & 0x55555555u;
    v = (v & 0x33333333u) + (v >> 2 & 0x33333333u);
    v = (v + (v >> 4)) & 0x0f0f0f0fu;
    y[i] = v * 0x01010101u >> 24;
  }
}
