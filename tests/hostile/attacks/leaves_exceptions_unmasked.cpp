// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hack: 23
// kind: state left behind
// problem: chain
// expect: rejected
// naive: not tried
// needs: x86
// Unmasks inexact results: the next addition of a caller is a signal.
#include "honest.hpp"
extern "C" void chain(int n, const float* x, float* y) {
  honest(n, x, y);
#if defined(__x86_64__)
  __builtin_ia32_ldmxcsr((__builtin_ia32_stmxcsr() & ~0x3fu) & ~0x1000u);
#endif
}
