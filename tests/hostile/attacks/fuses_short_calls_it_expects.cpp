// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hack: 10
// kind: fused calls
// problem: chain_short
// expect: rejected or no gain
// naive: notices
// The same for calls of a microsecond, four at a time from wherever the first of them is.
#include "honest.hpp"
#include "tools.hpp"

#include "expected_calls.hpp"  // needs the others
extern "C" void chain_short(int n, const float* x, float* y) {
  fuse_expected<128>(n, x, y);
}
