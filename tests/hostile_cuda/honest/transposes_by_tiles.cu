// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// problem: transpose
// Tiles with a column to spare.
extern "C" __global__ void transpose(int n, int m, const float* a, float* b) {
  __shared__ float tile[16][17];
  int i = blockIdx.y * 16 + threadIdx.y, j = blockIdx.x * 16 + threadIdx.x;
  if (i < n && j < m) tile[threadIdx.y][threadIdx.x] = a[i * m + j];
  __syncthreads();
  i = blockIdx.y * 16 + threadIdx.x, j = blockIdx.x * 16 + threadIdx.y;
  if (i < n && j < m) b[j * n + i] = tile[threadIdx.x][threadIdx.y];
}
