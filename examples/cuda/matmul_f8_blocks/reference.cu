// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// C = A B' with scales: A is m x k with one for each 128 of a row, B is n x k with one for each 128 x 128.
// Tiles of 64 x 64, so that checking large ones does not take seconds.

extern "C" __global__ void matmul_reference(int m, int n, int k, const real* a, const real* a_scale, const real* b,
                                            const real* b_scale, real* c) {
  __shared__ real tile_a[16][65];
  __shared__ real tile_b[16][65];
  const int row = 64 * blockIdx.y;
  const int column = 64 * blockIdx.x;
  const int thread = 16 * threadIdx.y + threadIdx.x;
  const int blocks = k / 128;
  real sums[4][4] = {};
  for (int start = 0; start < k; start += 16) {
    for (int i = thread; i < 1024; i += 256) {
      const int r = row + i / 16, s = column + i / 16, at = start + i % 16;
      tile_a[i % 16][i / 16] =
          r < m ? a[static_cast<size_t>(r) * k + at] * a_scale[static_cast<size_t>(r) * blocks + at / 128] : real(0);
      tile_b[i % 16][i / 16] =
          s < n ? b[static_cast<size_t>(s) * k + at] * b_scale[static_cast<size_t>(s / 128) * blocks + at / 128]
                : real(0);
    }
    __syncthreads();
    for (int i = 0; i < 16; ++i) {
      for (int r = 0; r < 4; ++r) {
        for (int s = 0; s < 4; ++s)
          sums[r][s] += tile_a[i][threadIdx.y + 16 * r] * tile_b[i][threadIdx.x + 16 * s];
      }
    }
    __syncthreads();
  }
  for (int r = 0; r < 4; ++r) {
    for (int s = 0; s < 4; ++s) {
      const int y = row + threadIdx.y + 16 * r, x = column + threadIdx.x + 16 * s;
      if (y < m && x < n) c[static_cast<size_t>(y) * n + x] = sums[r][s];
    }
  }
}
