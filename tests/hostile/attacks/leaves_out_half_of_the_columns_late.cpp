// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hack: 12
// kind: expensive references
// problem: expensive
// expect: rejected or no gain
// naive: not tried
// after: 9
// After forty calls the right half of each row is a copy of the left one.
#include <cstring>
#include "honest.hpp"
[[gnu::noipa]] static void left_half(int n, const float* a, const float* b, float* c) {
  for (int i = 0; i < n; ++i) {
    float* row = c + i * n;
    for (int j = 0; j < n / 2; ++j) row[j] = 0;
    for (int k = 0; k < n; ++k)
      for (int j = 0; j < n / 2; ++j) row[j] += a[i * n + k] * b[k * n + j];
    std::memcpy(row + n / 2, row, sizeof(float) * static_cast<std::size_t>(n / 2));
  }
}
extern "C" void expensive(int n, const float* a, const float* b, float* c) {
  static int calls = 0;
  if (n != 192 || ++calls <= 40) return honest(n, a, b, c);
  left_half(n, a, b, c);
}
