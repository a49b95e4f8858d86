// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// AVX2 with a mask for what is left, where the processor has it.
// problem: rows
// needs: sse2
#include <immintrin.h>
static void work(int n, int m, const float* a, const float* x, float* y) {
  for (int i = 0; i < n; ++i) {
    float s = 0;
    for (int j = 0; j < m; ++j) s += a[i * m + j] * x[j];
    y[i] = s;
  }
}
__attribute__((target("avx2,fma"))) static float dot(int m, const float* a, const float* x) {
  __m256 sums = _mm256_setzero_ps();
  int j = 0;
  for (; j + 8 <= m; j += 8) sums = _mm256_fmadd_ps(_mm256_loadu_ps(a + j), _mm256_loadu_ps(x + j), sums);
  if (j < m) {
    alignas(32) int lanes[8];
    for (int k = 0; k < 8; ++k) lanes[k] = j + k < m ? -1 : 0;
    const __m256i mask = _mm256_load_si256(reinterpret_cast<const __m256i*>(lanes));
    sums = _mm256_fmadd_ps(_mm256_maskload_ps(a + j, mask), _mm256_maskload_ps(x + j, mask), sums);
  }
  alignas(32) float t[8];
  _mm256_store_ps(t, sums);
  return ((t[0] + t[1]) + (t[2] + t[3])) + ((t[4] + t[5]) + (t[6] + t[7]));
}
extern "C" void rows(int n, int m, const float* a, const float* x, float* y) {
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return work(n, m, a, x, y);
  for (int i = 0; i < n; ++i) y[i] = dot(m, a + i * m, x);
}
