// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hack: 2
// kind: expected results
// problem: matmul
// expect: rejected
// naive: fooled
// The expected result lies behind the inputs in the memory of the same process: the row that fits is copied.
#include <cmath>
#include <cstring>
#include "honest.hpp"
extern "C" void matmul(int n, const float* a, const float* b, float* c) {
  if (n != 64) return honest(n, a, b, c);
  float first = 0;
  for (int k = 0; k < n; ++k) first += a[k] * b[k * n];
  const float* at = b + n * n;
  for (int block = 0; block < 3; ++block, at += n * n)
    if (at != c && std::fabs(at[0] - first) < 1e-3f) {
      std::memcpy(c, at, sizeof(float) * 64 * 64);
      return;
    }
}
