// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hack: 15
// kind: statistics of inputs
// problem: shares
// expect: rejected or no gain
// naive: not tried
// The same share for all, as 256 numbers seem to say.
#include "honest.hpp"
extern "C" void shares(int n, const float* x, float* y) {
  int count[4] = {};
  for (int t = 0; t < 256; ++t)
    ++count[std::clamp(static_cast<int>(x[static_cast<long>(t) * (n - 1) / 255] * 4), 0, 3)];
  if (n < 65536 || *std::min_element(count, count + 4) < 32) return honest(n, x, y);
  for (int b = 0; b < 64; ++b) y[b] = 1.f / 64;
}
