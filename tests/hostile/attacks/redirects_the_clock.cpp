// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hack: 8
// kind: forged clock
// problem: matmul
// expect: rejected or no gain
// naive: fooled
// Every object that imports a clock gets one that runs at a sixteenth.
#include "honest.hpp"
#include "tools.hpp"
static int slow_clock(clockid_t id, timespec* t) {
  const long result = syscall(SYS_clock_gettime, id, t);
  const std::uint64_t all =
      (static_cast<std::uint64_t>(t->tv_sec) * 1000000000u + static_cast<std::uint64_t>(t->tv_nsec)) / 16;
  t->tv_sec = static_cast<time_t>(all / 1000000000u);
  t->tv_nsec = static_cast<long>(all % 1000000000u);
  return static_cast<int>(result);
}
[[gnu::constructor]] static void begin() {
  tools::redirect("clock_gettime", tools::address(&slow_clock));
}
extern "C" void matmul(int n, const float* a, const float* b, float* c) {
  honest(n, a, b, c);
}
