// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Divides until nothing is left.
// problem: gcd
#include <cstdint>
extern "C" void gcd(int n, const std::uint32_t* x, const std::uint32_t* z, std::uint32_t* y) {
  for (int i = 0; i < n; ++i) {
    std::uint32_t a = x[i], b = z[i];
    while (b != 0) {
      const std::uint32_t rest = a % b;
      a = b;
      b = rest;
    }
    y[i] = a;
  }
}
