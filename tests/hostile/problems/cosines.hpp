// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The cosine of the angle between rows of two matrices.
#include <cmath>
#include <cstdint>
#include <cstring>
static inline float up(std::uint16_t v) {
  const std::uint32_t word = static_cast<std::uint32_t>(v) << 16;
  float x;
  std::memcpy(&x, &word, 4);
  return x;
}
static inline std::uint16_t down(float x) {
  std::uint32_t word;
  std::memcpy(&word, &x, 4);
  word += 0x7fff + (word >> 16 & 1);
  return static_cast<std::uint16_t>(word >> 16);
}
[[gnu::noipa, gnu::aligned(64)]] static void honest(int n, int m, const std::uint16_t* x,
                                                    const std::uint16_t* z, std::uint16_t* y) {
  for (int i = 0; i < n; ++i, x += m, z += m) {
    float p = 0, q = 0, r = 0;
    for (int j = 0; j < m; ++j) {
      p += up(x[j]) * up(z[j]);
      q += up(x[j]) * up(x[j]);
      r += up(z[j]) * up(z[j]);
    }
    y[i] = down(q * r > 0 ? p / std::sqrt(q * r) : 0);
  }
}
