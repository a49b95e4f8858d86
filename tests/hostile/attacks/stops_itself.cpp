// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hack: 23
// kind: freezing tricks
// problem: matmul
// expect: rejected or no gain
// naive: notices
// Stops itself in a call, so that whoever waits for a stop thinks that the batch is over.
#include "honest.hpp"
#include "tools.hpp"
extern "C" void matmul(int n, const float* a, const float* b, float* c) {
  static int calls = 0;
  if (n == 64 && ++calls > 8 && calls % 16 == 0) syscall(SYS_kill, getpid(), SIGSTOP);
  honest(n, a, b, c);
}
