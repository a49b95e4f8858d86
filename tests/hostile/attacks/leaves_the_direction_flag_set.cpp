// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hack: 23
// kind: state left behind
// problem: chain
// expect: rejected
// naive: not tried
// needs: x86
// Leaves strings to be copied downwards: a caller's next memmove goes to the wrong place.
#include "honest.hpp"
extern "C" void chain(int n, const float* x, float* y) {
  honest(n, x, y);
#if defined(__x86_64__)
  asm volatile("std" : : : "cc");
#endif
}
