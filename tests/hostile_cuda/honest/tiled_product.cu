// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// problem: product
// Tiles in shared memory.
extern "C" __global__ void product(int n, int m, int k, const float* a, const float* b, float* c) {
  const int i = blockIdx.y * 16 + threadIdx.y, j = blockIdx.x * 16 + threadIdx.x;
  __shared__ float tile_a[16][17], tile_b[16][17];
  float t = 0;
  for (int l = 0; l < k; l += 16) {
    tile_a[threadIdx.y][threadIdx.x] = i < n && l + threadIdx.x < k ? a[i * k + l + threadIdx.x] : 0;
    tile_b[threadIdx.y][threadIdx.x] = j < m && l + threadIdx.y < k ? b[(l + threadIdx.y) * m + j] : 0;
    __syncthreads();
    for (int q = 0; q < 16; ++q) t += tile_a[threadIdx.y][q] * tile_b[q][threadIdx.x];
    __syncthreads();
  }
  if (i < n && j < m) c[i * m + j] = t;
}
