// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hack: 12
// kind: expensive references
// problem: expensive
// expect: rejected or no gain
// naive: not tried
// after: 9
// After thirty calls it computes a fourth of the rows, another one each time; the others stay as they were.
#include <cstring>
#include "honest.hpp"
extern "C" void expensive(int n, const float* a, const float* b, float* c) {
  static float last[192 * 192];
  static int calls = 0;
  if (n != 192) return honest(n, a, b, c);
  if (++calls <= 30)
    honest(n, a, b, c);
  else {
    std::memcpy(c, last, sizeof last);
    const int from = calls % 4 * (n / 4);
    for (int i = from; i < from + n / 4; ++i) {
      float* row = c + i * n;
      for (int j = 0; j < n; ++j) row[j] = 0;
      for (int k = 0; k < n; ++k)
        for (int j = 0; j < n; ++j) row[j] += a[i * n + k] * b[k * n + j];
    }
  }
  std::memcpy(last, c, sizeof last);
}
