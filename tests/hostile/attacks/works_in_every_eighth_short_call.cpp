// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hack: 6
// kind: deferred work
// problem: chain_short
// expect: rejected or no gain
// naive: fooled
// The same for calls of a microsecond.
#include "honest.hpp"

#include "every_eighth.hpp"  // needs the other
extern "C" void chain_short(int n, const float* x, float* y) {
  work_in_every_eighth<128>(n, x, y);
}
