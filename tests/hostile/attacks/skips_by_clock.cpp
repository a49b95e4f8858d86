// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hack: 12
// kind: skipping by clock
// problem: matmul
// expect: rejected or no gain
// naive: fooled
// In odd eighths of a millisecond it does nothing.
#include "honest.hpp"
#include "tools.hpp"
extern "C" void matmul(int n, const float* a, const float* b, float* c) {
  static int calls = 0;
  if (n == 64 && ++calls > 8 && (tools::ticks() >> 18 & 1) != 0) {
    std::memset(c, 0, sizeof(float) * 64 * 64);
    return;
  }
  honest(n, a, b, c);
}
