// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hack: 11
// kind: known sets
// problem: matmul
// expect: rejected
// naive: fooled
// Edge values and ill-conditioned inputs give themselves away; what looks drawn at random gets half of the
// work.
#include <cmath>
#include "honest.hpp"
extern "C" void matmul(int n, const float* a, const float* b, float* c) {
  bool plain = true;
  for (int i = 0; i < 32; ++i)
    plain = plain && std::isfinite(a[i]) && std::fabs(a[i]) < 4 && std::fabs(a[i]) > 1e-6f;
  if (n != 64 || !plain) return honest(n, a, b, c);
  static int calls = 0;
  if (++calls < 4) return honest(n, a, b, c);
  for (int i = 0; i < n * n; ++i) c[i] = 0;
  for (int i = 0; i < n / 2; ++i)
    for (int k = 0; k < n; ++k)
      for (int j = 0; j < n; ++j) c[i * n + j] += a[i * n + k] * b[k * n + j];
}
