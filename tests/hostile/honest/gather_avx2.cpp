// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Gathers of AVX2 where the processor has them.
// problem: gather
// needs: sse2
#include <immintrin.h>
__attribute__((target("avx2"))) static int wide(int n, const int* index, const float* x, float* y) {
  int i = 0;
  for (; i + 8 <= n; i += 8) {
    const __m256i at = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(index + i));
    _mm256_storeu_ps(y + i, _mm256_i32gather_ps(x, at, 4));
  }
  return i;
}
extern "C" void gather(int n, const int* index, const float* x, float* y) {
  int i = __builtin_cpu_supports("avx2") ? wide(n, index, x, y) : 0;
  for (; i < n; ++i) y[i] = x[index[i]];
}
