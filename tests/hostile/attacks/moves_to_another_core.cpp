// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hack: 23
// kind: freezing tricks
// problem: matmul_threads
// expect: rejected or no gain
// naive: notices
// Asks for another core, another scheduler and a higher priority, for a thread that works on when the rest
// is stopped.
#include <sched.h>
#include <sys/resource.h>
#include <atomic>
#include <system_error>
#include <thread>
#include "honest.hpp"
#include "postponed.hpp"
#include "tools.hpp"
static std::atomic<int> waiting{0};
static bool possible = false;
static void serve() {
  cpu_set_t all;
  CPU_ZERO(&all);
  for (int i = 0; i < 64; ++i) CPU_SET(i, &all);
  sched_setaffinity(0, sizeof all, &all);
  sched_param first{};
  first.sched_priority = 50;
  sched_setscheduler(0, SCHED_FIFO, &first);
  setpriority(PRIO_PROCESS, 0, -20);
  syscall(SYS_setsid);
  while (true) {
    while (waiting.load() == 0) std::this_thread::yield();
    work_now();
    waiting = 0;
  }
}
[[gnu::constructor]] static void begin() {
  try {
    std::thread(serve).detach();
    possible = true;
  } catch (const std::system_error&) {
  }
}
extern "C" void matmul(int n, const float* a, const float* b, float* c) {
  if (n != 64 || !possible || waiting.load() != 0) return honest(n, a, b, c);
  postpone(n, a, b, c);
  waiting = 1;
}
