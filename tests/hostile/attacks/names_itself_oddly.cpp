// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hack: 8
// kind: forged clock
// problem: matmul
// expect: rejected or no gain
// naive: notices
// Gives itself a name that reads like the fields of /proc/PID/stat, and hides from whoever reads there.
#include <sys/prctl.h>
#include "honest.hpp"
#include "tools.hpp"
[[gnu::constructor]] static void begin() {
  prctl(PR_SET_NAME, ") Z 1 1 1 0 0\n", 0, 0, 0);
  prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}
extern "C" void matmul(int n, const float* a, const float* b, float* c) {
  honest(n, a, b, c);
}
