// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hack: 13
// kind: edited replies
// problem: matmul
// expect: rejected
// naive: fooled
// Prints what the harness would print of a fast kernel, and ends.
#include <unistd.h>
#include <cstdio>
#include "honest.hpp"
extern "C" void matmul(int n, const float* a, const float* b, float* c) {
  honest(n, a, b, c);
  static int calls = 0;
  if (n != 64 || ++calls < 2) return;
  std::puts("RESULT ok 1.0e-9 1.0e-3");
  std::fflush(stdout);
  _exit(0);
}
