// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
__global__ void transpose(int n, int m, const float* a, float* b) {
  // The block's tile crosses shared memory, so that neighbouring threads touch neighbouring elements both where it is
  // read and where it is written. The column more keeps the reads of a column off a shared bank.
  __shared__ float tile[TILE][TILE + 1];
  const int row0 = blockIdx.y * TILE, col0 = blockIdx.x * TILE;
  if (row0 + threadIdx.y < n && col0 + threadIdx.x < m)
    tile[threadIdx.y][threadIdx.x] = a[(size_t)(row0 + threadIdx.y) * m + col0 + threadIdx.x];
  __syncthreads();
  if (col0 + threadIdx.y < m && row0 + threadIdx.x < n)
    b[(size_t)(col0 + threadIdx.y) * n + row0 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}
