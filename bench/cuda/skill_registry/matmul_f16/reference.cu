// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// C = A B, n x n, row-major, n a multiple of 64.
extern "C" __global__ void matmul_reference(int n, const real* a, const real* b, real* c) {
  __shared__ real tile_a[16][65];
  __shared__ real tile_b[16][65];
  const int row = 64 * blockIdx.y, column = 64 * blockIdx.x;
  const int thread = 16 * threadIdx.y + threadIdx.x;
  real sums[4][4] = {};
  for (int start = 0; start < n; start += 16) {
    for (int i = thread; i < 1024; i += 256) {
      tile_a[i % 16][i / 16] = a[static_cast<size_t>(row + i / 16) * n + start + i % 16];
      tile_b[i / 64][i % 64] = b[static_cast<size_t>(start + i / 64) * n + column + i % 64];
    }
    __syncthreads();
    for (int i = 0; i < 16; ++i)
      for (int r = 0; r < 4; ++r)
        for (int s = 0; s < 4; ++s) sums[r][s] += tile_a[i][threadIdx.y + 16 * r] * tile_b[i][threadIdx.x + 16 * s];
    __syncthreads();
  }
  for (int r = 0; r < 4; ++r)
    for (int s = 0; s < 4; ++s)
      c[static_cast<size_t>(row + threadIdx.y + 16 * r) * n + column + threadIdx.x + 16 * s] = sums[r][s];
}
