// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hack: 23
// kind: state left behind
// problem: chain
// expect: rejected
// naive: not tried
// needs: x86
// The control word of the x87 unit is left with 24 bits: long double is no longer what a caller thinks.
#include "honest.hpp"
extern "C" void chain(int n, const float* x, float* y) {
#if defined(__x86_64__)
  unsigned short word;
  asm volatile("fnstcw %0" : "=m"(word));
  word &= 0xfcff;
  asm volatile("fldcw %0" : : "m"(word));
#endif
  honest(n, x, y);
}
