// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hack: 12
// kind: expensive references
// problem: expensive
// expect: rejected or no gain
// naive: not tried
// after: 9
// judged: pairs
// Right in processes that are shown the shape that is not timed, which a trial begins with, and after that a
// dozen times.
#include "honest.hpp"
extern "C" void expensive(int n, const float* a, const float* b, float* c) {
  static bool shown = false;
  static int calls = 0;
  shown = shown || n != 192;
  if (n != 192 || shown || ++calls <= 12) return honest(n, a, b, c);
  rows(n, a, b, c, n / 8);
  for (int i = n * n / 8; i < n * n; ++i) c[i] = 1;
}
