// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hack: 10
// kind: fused calls
// problem: chain
// expect: rejected or no gain
// naive: notices
// Remembers where the calls of a batch have their arrays and does four of them in one loop, whose steps
// overlap.
#include "honest.hpp"
#include "tools.hpp"

#include "expected_calls.hpp"  // needs the others
extern "C" void chain(int n, const float* x, float* y) {
  fuse_expected<4096>(n, x, y);
}
