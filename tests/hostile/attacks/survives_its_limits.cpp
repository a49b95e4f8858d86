// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hack: 6
// kind: signal handlers
// problem: matmul
// expect: rejected or no gain
// naive: notices
// Every other call divides by zero before it has worked; the handler jumps out of the call.
#include <setjmp.h>
#include "honest.hpp"
#include "tools.hpp"
static sigjmp_buf out;
static void handle(int) {
  siglongjmp(out, 1);
}
[[gnu::constructor]] static void begin() {
  for (const int signal : {SIGFPE, SIGSEGV, SIGSYS, SIGBUS, SIGILL, SIGXCPU, SIGALRM}) {
    struct sigaction action {};
    action.sa_handler = handle;
    action.sa_flags = SA_NODEFER;
    sigaction(signal, &action, nullptr);
  }
}
extern "C" void matmul(int n, const float* a, const float* b, float* c) {
  static volatile int calls = 0;
  if (n == 64 && sigsetjmp(out, 1) == 0) {
    volatile int zero = 0;
    calls = calls + 1;
    if (calls > 1 && calls % 2 == 0) zero = 1 / zero;
  } else if (n == 64) {
    return;
  }
  honest(n, a, b, c);
}
