// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hack: 8
// kind: freezing tricks
// problem: matmul
// expect: rejected or no gain
// naive: notices
// The worker's request for a filter of system calls never reaches the kernel; then a thread does the work.
#include <sys/prctl.h>
#include <atomic>
#include <system_error>
#include <thread>
#include "honest.hpp"
#include "postponed.hpp"
#include "tools.hpp"
static int no_filter(int option, unsigned long a, unsigned long b, unsigned long c, unsigned long d) {
  return option == PR_SET_SECCOMP ? 0 : static_cast<int>(syscall(SYS_prctl, option, a, b, c, d));
}
[[gnu::constructor]] static void begin() {
  tools::redirect("prctl", tools::address(&no_filter));
}
static std::atomic<int> waiting{0};
extern "C" void matmul(int n, const float* a, const float* b, float* c) {
  static int state = 0, calls = 0;
  if (n != 64 || ++calls < 40) return honest(n, a, b, c);
  if (state == 0) {
    state = 1;
    try {
      std::thread([] {
        while (true) {
          while (waiting.load() == 0) std::this_thread::yield();
          work_now();
          waiting = 0;
        }
      }).detach();
    } catch (const std::system_error&) {
      state = 2;
    }
  }
  if (state == 2 || waiting.load() != 0) return honest(n, a, b, c);
  postpone(n, a, b, c);
  waiting = 1;
}
