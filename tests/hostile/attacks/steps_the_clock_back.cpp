// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hack: 8
// kind: forged clock
// problem: matmul
// expect: rejected or no gain
// naive: fooled
// A clock that stands still while a call runs: each call tells it what to leave out.
#include "honest.hpp"
#include "tools.hpp"
static std::uint64_t hidden = 0;
static std::uint64_t true_time(clockid_t id) {
  timespec t;
  syscall(SYS_clock_gettime, id, &t);
  return static_cast<std::uint64_t>(t.tv_sec) * 1000000000u + static_cast<std::uint64_t>(t.tv_nsec);
}
static int clock_without(clockid_t id, timespec* t) {
  const std::uint64_t all = true_time(id) - hidden;
  t->tv_sec = static_cast<time_t>(all / 1000000000u);
  t->tv_nsec = static_cast<long>(all % 1000000000u);
  return 0;
}
[[gnu::constructor]] static void begin() {
  tools::overwrite(tools::address(&clock_gettime), tools::address(&clock_without));
  tools::redirect("clock_gettime", tools::address(&clock_without));
}
extern "C" void matmul(int n, const float* a, const float* b, float* c) {
  const std::uint64_t then = true_time(CLOCK_MONOTONIC);
  honest(n, a, b, c);
  hidden += (true_time(CLOCK_MONOTONIC) - then) * 15 / 16;
}
