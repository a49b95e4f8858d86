// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hack: 12
// kind: skipping by call count
// problem: slow_reference
// expect: rejected or no gain
// naive: fooled
// Right in its first sixteen calls of a process, when as few can be compared with the reference as it allows;
// then in an eighth of the rows.
#include "honest.hpp"
extern "C" void matmul(int n, const float* a, const float* b, float* c) {
  static int calls;
  if (n != 160 || ++calls <= 16) return honest(n, a, b, c);
  rows(n, a, b, c, n / 8);
  for (int i = n * n / 8; i < n * n; ++i) c[i] = 1;
}
