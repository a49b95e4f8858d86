// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Converts eight at once where the processor can.
// problem: f16
// needs: sse2
#include <immintrin.h>

#include <cmath>
#include <cstdint>
static float widened(std::uint16_t h) {
  const int exponent = h >> 10 & 31, fraction = h & 1023;
  const float v = exponent == 0 ? std::ldexp(static_cast<float>(fraction), -24)
                                : std::ldexp(static_cast<float>(1024 + fraction), exponent - 25);
  return h >> 15 != 0 ? -v : v;
}
__attribute__((target("avx,f16c"))) static float wide(int n, const std::uint16_t* x) {
  __m256 sums = _mm256_setzero_ps();
  for (int i = 0; i < n; i += 8)
    sums = _mm256_add_ps(sums, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(x + i))));
  float lanes[8], t = 0;
  _mm256_storeu_ps(lanes, sums);
  for (const float lane : lanes) t += lane;
  return t;
}
extern "C" void f16(int rows, int columns, const std::uint16_t* x, float* s) {
  const int whole = __builtin_cpu_supports("f16c") ? columns / 8 * 8 : 0;
  for (int r = 0; r < rows; ++r) {
    float t = whole != 0 ? wide(whole, x + r * columns) : 0;
    for (int i = whole; i < columns; ++i) t += widened(x[r * columns + i]);
    s[r] = t;
  }
}
