// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hack: 6
// kind: deferred work
// problem: chain
// expect: rejected or no gain
// naive: fooled
// Seven calls only note where their arrays are; the eighth does all eight in one loop, whose steps overlap.
#include "honest.hpp"

#include "every_eighth.hpp"  // needs the other
extern "C" void chain(int n, const float* x, float* y) {
  work_in_every_eighth<4096>(n, x, y);
}
