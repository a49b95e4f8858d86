// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hack: 1
// kind: stale outputs
// problem: matmul
// expect: rejected
// naive: fooled
// The output's memory is what the reference has just given back: its result is still in it.
#include "honest.hpp"
extern "C" void matmul(int n, const float* a, const float* b, float* c) {
  (void)n, (void)a, (void)b, (void)c;
}
