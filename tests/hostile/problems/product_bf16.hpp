// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// c = a b^T in bf16, summed up in single precision.
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
[[gnu::noipa, gnu::aligned(64)]] static void honest(int m, int k, const std::uint16_t* a,
                                                    const std::uint16_t* b, std::uint16_t* c) {
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < m; ++j) {
      float s = 0;
      for (int l = 0; l < k; ++l) s += up(a[i * k + l]) * up(b[j * k + l]);
      c[i * m + j] = down(s);
    }
}
