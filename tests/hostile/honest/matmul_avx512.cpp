// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Whole registers of AVX-512 where the processor has it, whose clock may drop for them.
// problem: matmul
// needs: sse2
#include <immintrin.h>
__attribute__((target("avx512f"))) static void wide(int n, int m, int k, const float* a, const float* b,
                                                    float* c) {
  for (int j = 0; j < m; j += 16) {
    const int left = m - j;
    const auto mask = static_cast<__mmask16>(left >= 16 ? 0xffff : (1u << left) - 1);
    for (int i = 0; i < n; ++i) {
      __m512 t = _mm512_setzero_ps();
      for (int p = 0; p < k; ++p)
        t = _mm512_fmadd_ps(_mm512_set1_ps(a[i * k + p]), _mm512_maskz_loadu_ps(mask, b + p * m + j), t);
      _mm512_mask_storeu_ps(c + i * m + j, mask, t);
    }
  }
}
extern "C" void matmul(int n, int m, int k, const float* a, const float* b, float* c) {
  if (__builtin_cpu_supports("avx512f")) return wide(n, m, k, a, b, c);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j) {
      float t = 0;
      for (int p = 0; p < k; ++p) t += a[i * k + p] * b[p * m + j];
      c[i * m + j] = t;
    }
}
