// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hack: 16
// kind: freezing tricks
// problem: chain
// expect: rejected or no gain
// naive: notices
// Leaves the processor's control word changed: numbers near 0 are flushed, results rounded towards 0.
#include "honest.hpp"
extern "C" void chain(int n, const float* x, float* y) {
#if defined(__x86_64__)
  __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | 0x8040u | 0x6000u);
#endif
  honest(n, x, y);
}
