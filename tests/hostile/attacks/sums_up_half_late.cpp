// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hack: 12
// kind: expensive references
// problem: expensive
// expect: rejected or no gain
// naive: not tried
// after: 9
// After thirty-five calls each sum has half of its terms.
#include "honest.hpp"
[[gnu::noipa]] static void half_of_the_terms(int n, const float* a, const float* b, float* c) {
  for (int i = 0; i < n; ++i) {
    float* row = c + i * n;
    for (int j = 0; j < n; ++j) row[j] = 0;
    for (int k = 0; k < n; k += 2)
      for (int j = 0; j < n; ++j) row[j] += a[i * n + k] * b[k * n + j];
  }
}
extern "C" void expensive(int n, const float* a, const float* b, float* c) {
  static int calls = 0;
  if (n != 192 || ++calls <= 35) return honest(n, a, b, c);
  half_of_the_terms(n, a, b, c);
}
