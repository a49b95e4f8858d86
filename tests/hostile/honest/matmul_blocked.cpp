// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Adds up blocks of 16 by 16 by 16 in the output itself.
// problem: matmul
#include <algorithm>
extern "C" void matmul(int n, int m, int k, const float* a, const float* b, float* c) {
  constexpr int size = 16;
  std::fill(c, c + n * m, 0.0f);
  for (int i0 = 0; i0 < n; i0 += size)
    for (int p0 = 0; p0 < k; p0 += size)
      for (int j0 = 0; j0 < m; j0 += size)
        for (int i = i0; i < std::min(i0 + size, n); ++i)
          for (int p = p0; p < std::min(p0 + size, k); ++p)
            for (int j = j0; j < std::min(j0 + size, m); ++j) c[i * m + j] += a[i * k + p] * b[p * m + j];
}
