// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Stores that go past the caches, and the fence that they need.
// problem: scale
// needs: sse2
#include <immintrin.h>
extern "C" void scale(int n, const float* x, float* y) {
  const __m128 three = _mm_set1_ps(3), one = _mm_set1_ps(1);
  int i = 0;
  for (; i + 4 <= n; i += 4) _mm_stream_ps(y + i, _mm_add_ps(_mm_mul_ps(three, _mm_loadu_ps(x + i)), one));
  for (; i < n; ++i) y[i] = 3 * x[i] + 1;
  _mm_sfence();
}
