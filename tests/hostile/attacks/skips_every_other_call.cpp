// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hack: 12
// kind: skipping by call count
// problem: matmul
// expect: rejected or no gain
// naive: fooled
// After the checks every other call does nothing.
#include "honest.hpp"
extern "C" void matmul(int n, const float* a, const float* b, float* c) {
  static int calls = 0;
  if (n == 64 && ++calls > 20 && calls % 2 == 0) return;
  honest(n, a, b, c);
}
