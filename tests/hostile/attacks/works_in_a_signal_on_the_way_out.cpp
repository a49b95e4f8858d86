// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hack: 6
// kind: signal handlers
// problem: matmul
// expect: rejected or no gain
// naive: fooled
// A signal is sent to itself and blocked; the worker's next reading of its socket lets it through.
#include "honest.hpp"
#include "postponed.hpp"
#include "tools.hpp"
static void handle(int) {
  work_now();
}
static bool possible = false;
static ssize_t let_through(int from, void* data, std::size_t size, int flags) {
  sigset_t one, before;
  sigemptyset(&one);
  sigaddset(&one, SIGUSR1);
  sigprocmask(SIG_UNBLOCK, &one, &before);
  const auto got = syscall(SYS_recvfrom, from, data, size, flags, nullptr, nullptr);
  sigprocmask(SIG_BLOCK, &one, nullptr);
  return got;
}
[[gnu::constructor]] static void begin() {
  struct sigaction action {};
  action.sa_handler = handle;
  action.sa_flags = SA_RESTART;
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, SIGUSR1);
  possible = sigaction(SIGUSR1, &action, nullptr) == 0 && sigprocmask(SIG_BLOCK, &one, nullptr) == 0 &&
             tools::redirect("recv", tools::address(&let_through));
}
extern "C" void matmul(int n, const float* a, const float* b, float* c) {
  if (n != 64 || !possible) return honest(n, a, b, c);
  postpone(n, a, b, c);
  if (raise(SIGUSR1) != 0) work_now();
}
