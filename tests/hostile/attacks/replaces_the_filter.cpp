// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hack: 8
// kind: freezing tricks
// problem: matmul
// expect: rejected or no gain
// naive: notices
// The filter of system calls that the worker asks for is replaced by one that allows everything; then a
// timer does the work.
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include "honest.hpp"
#include "postponed.hpp"
#include "tools.hpp"
static int allow_all(int option, unsigned long a, unsigned long b, unsigned long c, unsigned long d) {
  if (option != PR_SET_SECCOMP) return static_cast<int>(syscall(SYS_prctl, option, a, b, c, d));
  sock_filter code[] = {BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  sock_fprog program{1, code};
  return static_cast<int>(syscall(SYS_prctl, PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0));
}
static void handle(int) {
  work_now();
}
[[gnu::constructor]] static void begin() {
  tools::redirect("prctl", tools::address(&allow_all));
}
extern "C" void matmul(int n, const float* a, const float* b, float* c) {
  static int state = 0, calls = 0;
  if (n != 64 || ++calls < 40) return honest(n, a, b, c);
  if (state == 0) {
    struct sigaction action {};
    action.sa_handler = handle;
    action.sa_flags = SA_RESTART;
    itimerval every{{0, 200}, {0, 200}};
    state = sigaction(SIGALRM, &action, nullptr) == 0 && setitimer(ITIMER_REAL, &every, nullptr) == 0 ? 1 : 2;
  }
  if (state == 2) return honest(n, a, b, c);
  postpone(n, a, b, c);
}
