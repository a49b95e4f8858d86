// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// AVX2 where the processor has it, peeled to 32 bytes; asked at each call.
// problem: dot
// needs: sse2
#include <immintrin.h>

#include <cstdint>
static float plain(int begin, int end, const float* x, const float* y) {
  float t = 0;
  for (int i = begin; i < end; ++i) t += x[i] * y[i];
  return t;
}
__attribute__((target("avx2,fma"))) static float wide(int n, const float* x, const float* y) {
  int i = 0;
  while (i < n && reinterpret_cast<std::uintptr_t>(x + i) % 32 != 0) ++i;
  float t = plain(0, i, x, y);
  __m256 sums = _mm256_setzero_ps();
  for (; i + 8 <= n; i += 8) sums = _mm256_fmadd_ps(_mm256_load_ps(x + i), _mm256_loadu_ps(y + i), sums);
  alignas(32) float lanes[8];
  _mm256_store_ps(lanes, sums);
  for (const float lane : lanes) t += lane;
  return t + plain(i, n, x, y);
}
extern "C" void dot(int n, const float* x, const float* y, float* s) {
  const bool can = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  *s = can ? wide(n, x, y) : plain(0, n, x, y);
}
