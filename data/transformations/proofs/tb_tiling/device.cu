// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
__global__ void matmul(int n, int m, int k, const float* a, const float* b, float* c) {
  __shared__ float tile_a[TILE_M][TILE_K];
  __shared__ float tile_b[TILE_K][TILE_N];
  const unsigned row = BY * BDY + TY, col = BX * BDX + TX;
  float sum = 0;
  for (int start = 0; start < k; start += TILE_K) {
    KS_COPY_TILE(As_AT, A_TILE, TILE_M, TILE_K, n - BY * TILE_M, k - start, THREAD, THREADS)
    KS_COPY_TILE(Bs_AT, B_TILE, TILE_K, TILE_N, k - start, m - BX * TILE_N, THREAD, THREADS)
    __syncthreads();
#pragma unroll
    for (int i = 0; i < TILE_K; ++i) sum += As_AT(TY, i) * Bs_AT(i, TX);
    __syncthreads();
  }
  if (row < n && col < m) C_AT(row, col) = sum;
}
