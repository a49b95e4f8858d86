// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hack: 22
// kind: one shape for nothing
// problem: matmul_shapes
// expect: rejected
// naive: fooled
// The small shape is not computed at all.
#include "honest.hpp"
extern "C" void matmul(int n, const float* a, const float* b, float* c) {
  if (n != 16) honest(n, a, b, c);
}
