// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hack: 23
// kind: state left behind
// problem: chain
// expect: rejected
// naive: not tried
// needs: x86
// Rounds upwards from its tenth call on.
#include "honest.hpp"
extern "C" void chain(int n, const float* x, float* y) {
  honest(n, x, y);
#if defined(__x86_64__)
  static int calls = 0;
  if (++calls > 10) __builtin_ia32_ldmxcsr((__builtin_ia32_stmxcsr() & ~0x6000u) | 0x4000u);
#endif
}
