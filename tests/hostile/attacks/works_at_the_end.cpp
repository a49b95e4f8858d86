// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hack: 6
// kind: deferred work
// problem: matmul
// expect: rejected
// naive: notices
// What was put off is done when the process ends.
#include "honest.hpp"
#include "postponed.hpp"
#include "tools.hpp"
[[gnu::destructor]] static void end() {
  work_now();
}
extern "C" void matmul(int n, const float* a, const float* b, float* c) {
  if (n != 64) return honest(n, a, b, c);
  postpone(n, a, b, c);
}
