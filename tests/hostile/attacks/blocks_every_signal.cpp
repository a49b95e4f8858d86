// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hack: 23
// kind: freezing tricks
// problem: matmul
// expect: rejected or no gain
// naive: fooled
// Nothing but SIGKILL and SIGSTOP reaches it, and its thawing is noticed late; what it put off it does in
// between.
#include "honest.hpp"
#include "postponed.hpp"
#include "tools.hpp"
static void handle(int) {
  work_now();
}
static bool possible = false;
[[gnu::constructor]] static void begin() {
  sigset_t all;
  sigfillset(&all);
  sigdelset(&all, SIGCONT);
  sigdelset(&all, SIGTSTP);
  possible = sigprocmask(SIG_BLOCK, &all, nullptr) == 0;
  struct sigaction action {};
  action.sa_handler = handle;
  action.sa_mask = all;
  possible = sigaction(SIGCONT, &action, nullptr) == 0 && possible;
  possible = sigaction(SIGTSTP, &action, nullptr) == 0 && possible;
}
extern "C" void matmul(int n, const float* a, const float* b, float* c) {
  if (n != 64 || !possible) return honest(n, a, b, c);
  postpone(n, a, b, c);
  if (postponed_count == 16) kill(getpid(), SIGTSTP);
}
