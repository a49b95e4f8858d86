// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
extern "C" void transpose(int n, int m, const float* a, float* b) {
  // A tile's rows of A and rows of B stay in the cache while it is worked on.
  for (int i0 = 0; i0 < n; i0 += HOST_TILE)
    for (int j0 = 0; j0 < m; j0 += HOST_TILE) {
      const int i1 = i0 + HOST_TILE < n ? i0 + HOST_TILE : n, j1 = j0 + HOST_TILE < m ? j0 + HOST_TILE : m;
      for (int j = j0; j < j1; ++j)
        for (int i = i0; i < i1; ++i) b[j * n + i] = a[i * m + j];
    }
}
