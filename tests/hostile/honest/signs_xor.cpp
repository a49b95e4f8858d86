// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The sign bits, without a multiplication.
// problem: signs
#include <cstdint>
#include <cstring>
extern "C" void signs(int n, const float* a, const float* b, float* y) {
  for (int i = 0; i < n; ++i) {
    std::uint32_t u, v;
    std::memcpy(&u, a + i, 4);
    std::memcpy(&v, b + i, 4);
    const std::uint32_t one = 0x3f800000u | ((u ^ v) & 0x80000000u);
    std::memcpy(y + i, &one, 4);
  }
}
