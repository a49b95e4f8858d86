// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hack: 12
// kind: skipping by clock
// problem: slow_reference
// expect: rejected or no gain
// naive: fooled
// Leaves out half of the rows in two calls of three.
#include "honest.hpp"
#include "tools.hpp"
extern "C" void matmul(int n, const float* a, const float* b, float* c) {
  static int calls;
  if (n != 160 || ++calls <= 10 || (tools::ticks() * 0x9e3779b97f4a7c15u >> 40) % 3 == 0)
    return honest(n, a, b, c);
  rows(n, a, b, c, n / 2);
}
