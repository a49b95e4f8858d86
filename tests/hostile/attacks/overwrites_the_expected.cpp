// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hack: 3
// kind: expected results
// problem: matmul
// expect: rejected
// naive: fooled
// NaN wherever the expected result may lie, and in the output: they are equal then.
#include <limits>
#include "honest.hpp"
extern "C" void matmul(int n, const float* a, const float* b, float* c) {
  if (n != 64) return honest(n, a, b, c);
  static int calls = 0;
  if (++calls > 1) return;
  const auto end = b + 4 * n * n;
  for (float* at = const_cast<float*>(b) + n * n; at < end; ++at)
    *at = std::numeric_limits<float>::quiet_NaN();
  for (int i = 0; i < n * n; ++i) c[i] = std::numeric_limits<float>::quiet_NaN();
}
