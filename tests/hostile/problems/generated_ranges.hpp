// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sums of ranges of numbers that a generator makes.
#include <cstdint>
[[gnu::noipa, gnu::aligned(64)]] static void honest(int n, int m, const float* x, const std::int32_t* first,
                                                    const std::int32_t* last, float* y) {
  (void)n;
  for (int i = 0; i < m; ++i) {
    float s = 0;
    for (int j = first[i]; j < last[i]; ++j) s += x[j];
    y[i] = s;
  }
}
