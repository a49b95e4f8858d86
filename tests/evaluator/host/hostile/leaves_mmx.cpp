// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: cheated: x87 stack
// Uses MMX and does not empty the stack of the x87, whose next results would be NaNs.
#include <mmintrin.h>
extern "C" void scale(int n, const float* x, float* y) {
  volatile int kept = _mm_cvtsi64_si32(_mm_add_pi32(_mm_set1_pi32(n), _mm_set1_pi32(1)));
  asm volatile("movd %0, %%mm0" ::"r"(static_cast<int>(kept)));
  for (int i = 0; i < n; ++i) y[i] = 3 * x[i] + 1;
}
