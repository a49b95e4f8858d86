// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hack: 12
// kind: timers
// problem: matmul
// expect: rejected or no gain
// naive: fooled
// An alarm a few milliseconds after the first calls switches to doing nothing: the checks are over by then.
#include <sys/time.h>
#include "honest.hpp"
#include "tools.hpp"
static volatile bool over = false;
static void handle(int) {
  over = true;
}
extern "C" void matmul(int n, const float* a, const float* b, float* c) {
  static int calls = 0;
  if (n == 64 && ++calls == 3) {
    struct sigaction action {};
    action.sa_handler = handle;
    action.sa_flags = SA_RESTART;
    itimerval once{{0, 0}, {0, 2000}};
    sigaction(SIGALRM, &action, nullptr);
    setitimer(ITIMER_REAL, &once, nullptr);
  }
  if (!over) honest(n, a, b, c);
}
