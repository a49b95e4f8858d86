// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How many greater numbers stand before each one of a permutation.
#include <cstdint>
[[gnu::noipa, gnu::aligned(64)]] static void honest(int n, const std::int32_t* p, std::int32_t* y) {
  for (int i = 0; i < n; ++i) {
    std::int32_t count = 0;
    for (int k = 0; k < i; ++k) count += p[k] > p[i] ? 1 : 0;
    y[i] = count;
  }
}
