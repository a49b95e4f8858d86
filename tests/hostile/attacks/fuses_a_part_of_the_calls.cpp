// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hack: 10
// kind: fused calls
// problem: chain_short
// expect: rejected or no gain
// naive: fooled
// Does so many calls of a batch together, 4 of every 16 in loops whose steps overlap, as what calls may take
// longer where they are made one by one leaves room for.
#include "honest.hpp"
#include "tools.hpp"
static constexpr int call_size = 128, fused = 4;
#include "part_of_batch.hpp"
extern "C" void chain_short(int n, const float* x, float* y) {
  fuse_a_part(n, x, y);
}
