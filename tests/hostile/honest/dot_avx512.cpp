// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// AVX-512 where the processor has it, with a masked tail; asked once, at the first call.
// problem: dot
// needs: sse2
#include <immintrin.h>
using Function = float (*)(int, const float*, const float*);
static float plain(int n, const float* x, const float* y) {
  float t = 0;
  for (int i = 0; i < n; ++i) t += x[i] * y[i];
  return t;
}
__attribute__((target("avx512f"))) static float wide(int n, const float* x, const float* y) {
  __m512 sums = _mm512_setzero_ps();
  int i = 0;
  for (; i + 16 <= n; i += 16) sums = _mm512_fmadd_ps(_mm512_loadu_ps(x + i), _mm512_loadu_ps(y + i), sums);
  const auto rest = static_cast<__mmask16>((1u << (n - i)) - 1);
  sums = _mm512_fmadd_ps(_mm512_maskz_loadu_ps(rest, x + i), _mm512_maskz_loadu_ps(rest, y + i), sums);
  float lanes[16], t = 0;
  _mm512_storeu_ps(lanes, sums);
  for (const float lane : lanes) t += lane;
  return t;
}
extern "C" void dot(int n, const float* x, const float* y, float* s) {
  static const Function function = __builtin_cpu_supports("avx512f") ? wide : plain;
  *s = function(n, x, y);
}
