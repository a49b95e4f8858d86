// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hack: 26
// kind: slowed baselines
// problem: matmul
// expect: rejected or no gain
// naive: fooled by a slower baseline
// judged: pairs
// Honest itself; but a timer burns the core for most of the time in which another one should run there.
#include <sys/time.h>
#include "honest.hpp"
#include "tools.hpp"
static volatile bool inside = false;
static std::uint64_t now() {
  timespec t;
  syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &t);
  return static_cast<std::uint64_t>(t.tv_sec) * 1000000000u + static_cast<std::uint64_t>(t.tv_nsec);
}
static void handle(int) {
  if (inside) return;
  for (const std::uint64_t then = now(); !inside && now() < then + 450000;) {
  }
}
extern "C" void matmul(int n, const float* a, const float* b, float* c) {
  static int calls = 0;
  if (n == 64 && ++calls == 90) {
    struct sigaction action {};
    action.sa_handler = handle;
    action.sa_flags = SA_RESTART;
    itimerval every{{0, 500}, {0, 500}};
    sigaction(SIGALRM, &action, nullptr);
    setitimer(ITIMER_REAL, &every, nullptr);
  }
  inside = true;
  honest(n, a, b, c);
  inside = false;
}
