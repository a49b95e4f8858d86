// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shifts and subtracts, with branches that nobody foresees.
// problem: gcd
#include <cstdint>
extern "C" void gcd(int n, const std::uint32_t* x, const std::uint32_t* z, std::uint32_t* y) {
  for (int i = 0; i < n; ++i) {
    std::uint32_t a = x[i], b = z[i];
    if (a == 0 || b == 0) {
      y[i] = a | b;
      continue;
    }
    const int twos = __builtin_ctz(a | b);
    a >>= __builtin_ctz(a);
    while (b != 0) {
      b >>= __builtin_ctz(b);
      if (a > b) {
        const std::uint32_t other = a;
        a = b;
        b = other;
      }
      b -= a;
    }
    y[i] = a << twos;
  }
}
