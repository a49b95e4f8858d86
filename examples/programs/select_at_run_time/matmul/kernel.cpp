// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

extern "C" void matmul(long n, const float* a, const float* b, float* c) {
  for (long i = 0; i < n * n; ++i) c[i] = 0.0F;
  for (long i0 = 0; i0 < n; i0 += TILE_M)
    for (long k0 = 0; k0 < n; k0 += TILE_K)
      for (long i = i0; i < (i0 + TILE_M < n ? i0 + TILE_M : n); ++i)
        for (long k = k0; k < (k0 + TILE_K < n ? k0 + TILE_K : n); ++k)
          for (long j = 0; j < n; ++j) c[i * n + j] += a[i * n + k] * b[k * n + j];
}
