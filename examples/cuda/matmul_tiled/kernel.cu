// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// C = A B, n x n, row-major. A block computes (block_size_y * tile_size_y) x (block_size_x * tile_size_x)
// elements of C from tiles of depth block_size_x in shared memory; the elements of a thread lie one block size
// apart, so that neighbouring threads touch neighbouring words.
#ifndef block_size_x
#define block_size_x 16
#define block_size_y 16
#define tile_size_x 2
#define tile_size_y 2
#define depth_unroll 4
#endif

extern "C" __global__ void __launch_bounds__(block_size_x* block_size_y)
    matmul_tiled(int n, const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c) {
  __shared__ float tile_a[block_size_y * tile_size_y][block_size_x];
  __shared__ float tile_b[block_size_x][block_size_x * tile_size_x];

  const int tx = threadIdx.x;
  const int ty = threadIdx.y;
  const int column = blockIdx.x * block_size_x * tile_size_x + tx;
  const int row = blockIdx.y * block_size_y * tile_size_y + ty;

  float sum[tile_size_y][tile_size_x] = {};

  for (int depth = 0; depth < n; depth += block_size_x) {
    __syncthreads();
#pragma unroll
    for (int i = 0; i < tile_size_y; ++i)
      tile_a[ty + i * block_size_y][tx] = a[(row + i * block_size_y) * n + depth + tx];
    // The tile of B has as many rows as a block has columns: with flat blocks a thread loads several.
    for (int r = ty; r < block_size_x; r += block_size_y) {
#pragma unroll
      for (int j = 0; j < tile_size_x; ++j)
        tile_b[r][tx + j * block_size_x] = b[(depth + r) * n + column + j * block_size_x];
    }
    __syncthreads();

    constexpr int unrolled = depth_unroll;
#pragma unroll unrolled
    for (int k = 0; k < block_size_x; ++k) {
#pragma unroll
      for (int i = 0; i < tile_size_y; ++i) {
        const float left = tile_a[ty + i * block_size_y][k];
#pragma unroll
        for (int j = 0; j < tile_size_x; ++j) sum[i][j] += left * tile_b[k][tx + j * block_size_x];
      }
    }
  }

#pragma unroll
  for (int i = 0; i < tile_size_y; ++i)
#pragma unroll
    for (int j = 0; j < tile_size_x; ++j)
      c[(row + i * block_size_y) * n + column + j * block_size_x] = sum[i][j];
}
