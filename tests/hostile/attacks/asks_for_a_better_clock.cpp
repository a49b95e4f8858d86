// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hack: 23
// kind: slowed baselines
// problem: matmul
// expect: rejected or no gain
// naive: notices
// judged: pairs
// Asks for all that may make this process faster than its rival: another priority, a higher clock, and no
// guards against speculation.
#include <sys/prctl.h>
#include <sys/resource.h>
#include "honest.hpp"
#include "tools.hpp"
struct Attributes {
  std::uint32_t size, policy;
  std::uint64_t flags;
  std::int32_t nice;
  std::uint32_t priority;
  std::uint64_t runtime, deadline, period;
  std::uint32_t clock_least, clock_most;
};
[[gnu::constructor]] static void begin() {
  setpriority(PRIO_PROCESS, 0, -20);
  Attributes wanted{sizeof(Attributes), 0, 0x28, -20, 0, 0, 0, 0, 1024, 1024};
  syscall(SYS_sched_setattr, 0, &wanted, 0);
  syscall(SYS_ioprio_set, 1, 0, 1 << 13);
  for (unsigned long which = 0; which < 3; ++which)
    prctl(PR_SET_SPECULATION_CTRL, which, PR_SPEC_ENABLE, 0, 0);
}
extern "C" void matmul(int n, const float* a, const float* b, float* c) {
  honest(n, a, b, c);
}
