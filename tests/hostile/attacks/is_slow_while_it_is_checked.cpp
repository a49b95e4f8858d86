// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hack: 12
// kind: skipping by call count
// problem: chain_short
// expect: rejected or no gain
// naive: notices
// Takes fifty times its time while it is checked and for its first timed calls, so that a batch is one call;
// then it leaves out most of its work.
#include "honest.hpp"
extern "C" void chain_short(int n, const float* x, float* y) {
  static int calls = 0;
  if (n != 128) return honest(n, x, y);
  if (++calls < 400)
    for (int i = 0; i < 50; ++i) honest(n, x, y);
  else
    return honest(calls % 4 == 0 ? n : n / 4, x, y);
  honest(n, x, y);
}
