// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Softmax of rows so wide that each share is less than the default absolute tolerance.
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
[[gnu::noipa, gnu::aligned(64)]] static void honest(int n, int m, const std::uint16_t* x, std::uint16_t* y) {
  for (int i = 0; i < n; ++i, x += m, y += m) {
    float most = up(x[0]), sum = 0;
    for (int j = 1; j < m; ++j) most = std::fmax(most, up(x[j]));
    for (int j = 0; j < m; ++j) sum += std::exp(up(x[j]) - most);
    for (int j = 0; j < m; ++j) y[j] = down(std::exp(up(x[j]) - most) / sum);
  }
}
