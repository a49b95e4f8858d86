// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hack: 6
// kind: signal handlers
// problem: matmul
// expect: rejected or no gain
// naive: fooled
// What was put off is done by the handler of the signal that thaws the process.
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
  possible = sigaction(SIGCONT, &action, nullptr) == 0;
}
extern "C" void matmul(int n, const float* a, const float* b, float* c) {
  if (n != 64 || !possible) return honest(n, a, b, c);
  postpone(n, a, b, c);
}
