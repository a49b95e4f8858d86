// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

extern "C" __global__ void matmul_reference(int n, const real* a, const real* b, real* c) {
  __shared__ real tile_a[16][16];
  __shared__ real tile_b[16][16];
  const int column = blockIdx.x * 16 + threadIdx.x;
  const int row = blockIdx.y * 16 + threadIdx.y;
  real sum = 0;
  for (int depth = 0; depth < n; depth += 16) {
    const int left = depth + threadIdx.x;
    const int right = depth + threadIdx.y;
    tile_a[threadIdx.y][threadIdx.x] = row < n && left < n ? a[row * n + left] : real(0);
    tile_b[threadIdx.y][threadIdx.x] = right < n && column < n ? b[right * n + column] : real(0);
    __syncthreads();
    for (int k = 0; k < 16; ++k) sum += tile_a[threadIdx.y][k] * tile_b[k][threadIdx.x];
    __syncthreads();
  }
  if (row < n && column < n) c[row * n + column] = sum;
}
