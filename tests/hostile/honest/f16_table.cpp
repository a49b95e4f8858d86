// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// All 65536 values in a table, made at the first call.
// problem: f16
#include <cmath>
#include <cstdint>
#include <memory>
static std::unique_ptr<float[]> made() {
  std::unique_ptr<float[]> t(new float[65536]);
  for (int h = 0; h < 65536; ++h) {
    const int exponent = h >> 10 & 31, fraction = h & 1023;
    const float v = exponent == 0 ? std::ldexp(static_cast<float>(fraction), -24)
                                  : std::ldexp(static_cast<float>(1024 + fraction), exponent - 25);
    t[h] = h >> 15 != 0 ? -v : v;
  }
  return t;
}
extern "C" void f16(int rows, int columns, const std::uint16_t* x, float* s) {
  static const std::unique_ptr<float[]> values = made();
  for (int r = 0; r < rows; ++r) {
    float t = 0;
    for (int i = 0; i < columns; ++i) t += values[x[r * columns + i]];
    s[r] = t;
  }
}
