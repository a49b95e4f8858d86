// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hack: 23
// kind: state left behind
// problem: subnormals
// expect: rejected
// naive: not tried
// needs: x86
// The same from the sixteenth call on.
#include "honest.hpp"
#if defined(__x86_64__)
#  include <immintrin.h>
#endif
extern "C" void subnormals(int n, const float* x, float* y) {
#if defined(__x86_64__)
  static int calls = 0;
  if (n == 512 && ++calls == 16) _mm_setcsr(_mm_getcsr() | 0x8040);
#endif
  honest(n, x, y);
}
