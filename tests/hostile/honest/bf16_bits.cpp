// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Widens by a shift and rounds to nearest even by an addition.
// problem: bf16
#include <cstdint>
#include <cstring>
static float widened(std::uint16_t v) {
  const std::uint32_t bits = static_cast<std::uint32_t>(v) << 16;
  float f;
  std::memcpy(&f, &bits, 4);
  return f;
}
static std::uint16_t rounded(float f) {
  std::uint32_t bits;
  std::memcpy(&bits, &f, 4);
  return static_cast<std::uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}
extern "C" void bf16(int n, const std::uint16_t* x, std::uint16_t* y) {
  for (int i = 0; i < n; ++i) y[i] = rounded(3 * widened(x[i]) + 1);
}
