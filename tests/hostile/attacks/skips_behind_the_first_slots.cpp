// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hack: 12
// kind: skipping by address
// problem: matmul
// expect: rejected or no gain
// naive: notices
// Checks use few sets of buffers; those that only timed calls use get nothing.
#include "honest.hpp"
extern "C" void matmul(int n, const float* a, const float* b, float* c) {
  static const float* highest = nullptr;
  static int calls = 0;
  if (n != 64) return honest(n, a, b, c);
  if (++calls <= 8 && (highest == nullptr || c > highest)) highest = c;
  if (calls > 8 && c > highest) {
    for (int i = 0; i < n * n; ++i) c[i] = 0;
    return;
  }
  honest(n, a, b, c);
}
