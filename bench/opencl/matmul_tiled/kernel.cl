// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The twin of examples/cuda/matmul_tiled in OpenCL C. C = A B, n x n, row-major. A group computes (block_size_y * tile_size_y) x (block_size_x * tile_size_x)
// elements of C from tiles of depth block_size_x in local memory; the elements of a thread lie one local size
// apart, so that neighbouring items touch neighbouring words.
#ifndef block_size_x
#define block_size_x 16
#define block_size_y 16
#define tile_size_x 2
#define tile_size_y 2
#define depth_unroll 4
#endif

__kernel __attribute__((reqd_work_group_size(block_size_x, block_size_y, 1))) void matmul_tiled(
    int n, const __global float* restrict a, const __global float* restrict b, __global float* restrict c) {
  __local float tile_a[block_size_y * tile_size_y][block_size_x];
  __local float tile_b[block_size_x][block_size_x * tile_size_x];

  const int tx = get_local_id(0);
  const int ty = get_local_id(1);
  const int column = get_group_id(0) * block_size_x * tile_size_x + tx;
  const int row = get_group_id(1) * block_size_y * tile_size_y + ty;

  float sum[tile_size_y][tile_size_x] = {{0}};

  for (int depth = 0; depth < n; depth += block_size_x) {
    barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
    for (int i = 0; i < tile_size_y; ++i)
      tile_a[ty + i * block_size_y][tx] = a[(row + i * block_size_y) * n + depth + tx];
    // The tile of B has as many rows as a block has columns: with flat blocks a thread loads several.
    for (int r = ty; r < block_size_x; r += block_size_y) {
#pragma unroll
      for (int j = 0; j < tile_size_x; ++j)
        tile_b[r][tx + j * block_size_x] = b[(depth + r) * n + column + j * block_size_x];
    }
    barrier(CLK_LOCAL_MEM_FENCE);

#pragma unroll depth_unroll
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
