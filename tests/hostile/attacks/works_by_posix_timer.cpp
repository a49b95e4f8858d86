// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hack: 6
// kind: timers
// problem: matmul
// expect: rejected or no gain
// naive: fooled
// The same with a timer of POSIX, set in the first call.
#include "honest.hpp"
#include "postponed.hpp"
#include "tools.hpp"
static void handle(int) {
  work_now();
}
extern "C" void matmul(int n, const float* a, const float* b, float* c) {
  static int state = 0;
  if (n != 64) return honest(n, a, b, c);
  if (state == 0) {
    struct sigaction action {};
    action.sa_handler = handle;
    action.sa_flags = SA_RESTART;
    sigevent event{};
    event.sigev_notify = SIGEV_SIGNAL;
    event.sigev_signo = SIGRTMIN;
    timer_t timer;
    itimerspec every{{0, 300000}, {0, 300000}};
    state = sigaction(SIGRTMIN, &action, nullptr) == 0 &&
                    timer_create(CLOCK_MONOTONIC, &event, &timer) == 0 &&
                    timer_settime(timer, 0, &every, nullptr) == 0
                ? 1
                : 2;
  }
  if (state == 2) return honest(n, a, b, c);
  postpone(n, a, b, c);
}
