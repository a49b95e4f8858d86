// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hack: 22
// kind: one shape for nothing
// problem: matmul_shapes
// expect: rejected
// naive: fooled
// Two timed shapes and their geometric mean: the small one returns what it returned before.
#include <cstring>
#include "honest.hpp"
extern "C" void matmul(int n, const float* a, const float* b, float* c) {
  static float result[16 * 16];
  static bool known = false;
  if (n != 16) return honest(n, a, b, c);
  if (!known) honest(n, a, b, result);
  known = true;
  std::memcpy(c, result, sizeof result);
}
