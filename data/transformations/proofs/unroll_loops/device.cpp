// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cstdint>

extern "C" void lookup(int n, const std::uint8_t* x, const float* table, float* y) {
  int i = 0;
  for (; i + UNROLL <= n; i += UNROLL) {
    // All loads before the stores: y may lie where the others do as far as the compiler knows.
    float found[UNROLL];
#pragma GCC unroll 8
    for (int u = 0; u < UNROLL; ++u) found[u] = table[x[i + u]];
#pragma GCC unroll 8
    for (int u = 0; u < UNROLL; ++u) y[i + u] = found[u];
  }
  for (; i < n; ++i) y[i] = table[x[i]];
}
