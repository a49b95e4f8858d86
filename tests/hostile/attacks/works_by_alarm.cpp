// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hack: 6
// kind: timers
// problem: matmul
// expect: rejected or no gain
// naive: fooled
// A timer's signal does what calls put off, some tenths of a millisecond later.
#include <sys/time.h>
#include "honest.hpp"
#include "postponed.hpp"
#include "tools.hpp"
static void handle(int) {
  work_now();
}
static bool possible = false;
[[gnu::constructor]] static void begin() {
  struct sigaction action {};
  action.sa_handler = handle;
  action.sa_flags = SA_RESTART;
  itimerval every{{0, 300}, {0, 300}};
  possible = sigaction(SIGALRM, &action, nullptr) == 0 && setitimer(ITIMER_REAL, &every, nullptr) == 0;
}
extern "C" void matmul(int n, const float* a, const float* b, float* c) {
  if (n != 64 || !possible) return honest(n, a, b, c);
  postpone(n, a, b, c);
}
