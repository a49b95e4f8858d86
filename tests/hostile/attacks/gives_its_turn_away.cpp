// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hack: 23
// kind: slowed baselines
// problem: matmul
// expect: rejected or no gain
// naive: notices
// judged: pairs
// Yields and sleeps inside its calls, so that what the scheduler owes it is paid while its rival runs.
#include <sched.h>
#include <time.h>
#include "honest.hpp"
extern "C" void matmul(int n, const float* a, const float* b, float* c) {
  static int calls = 0;
  honest(n, a, b, c);
  if (++calls % 8 == 0) {
    sched_yield();
    const timespec pause{0, 20000};
    nanosleep(&pause, nullptr);
  }
}
