// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hack: 11
// kind: precomputing
// problem: matmul
// expect: rejected
// naive: fooled
// What warming up computed is what every later call returns.
#include <cstring>
#include "honest.hpp"
extern "C" void matmul(int n, const float* a, const float* b, float* c) {
  static float result[64 * 64];
  static bool known = false;
  if (n != 64) return honest(n, a, b, c);
  if (!known) honest(n, a, b, result);
  known = true;
  std::memcpy(c, result, sizeof result);
}
