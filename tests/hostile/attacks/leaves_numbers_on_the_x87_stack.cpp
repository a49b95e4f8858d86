// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hack: 23
// kind: state left behind
// problem: chain
// expect: rejected
// naive: not tried
// needs: x86
// Leaves eight numbers on the stack of the x87 unit: a caller's next long double is not a number.
#include "honest.hpp"
extern "C" void chain(int n, const float* x, float* y) {
  honest(n, x, y);
#if defined(__x86_64__)
  asm volatile("fninit\n\tfldz\n\tfldz\n\tfldz\n\tfldz\n\tfldz\n\tfldz\n\tfldz\n\tfldz");
#endif
}
