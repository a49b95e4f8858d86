// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hack: 10
// kind: fused calls
// problem: chain
// expect: rejected or no gain
// naive: fooled
// Calls only note where their arrays are; when the worker is about to answer, all of them are done, eight in
// one loop, whose steps overlap.
#include "honest.hpp"
#include "tools.hpp"
static constexpr int batch_size = 4096;
#include "whole_batch.hpp"
extern "C" void chain(int n, const float* x, float* y) {
  note_for_the_batch(n, x, y);
}
