// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
__global__ void __launch_bounds__(THREADS) matmul(int n, int m, int k, const float* a, const float* b, float* c) {
  __shared__ float tile_a[TILE_M][TILE_K];
  __shared__ float tile_b[TILE_K][TILE_N];
  float sum[TRD_Y_DIM][TRD_X_DIM] = {};
  for (int start = 0; start < k; start += TILE_K) {
    KS_COPY_TILE(As_AT, A_TILE, TILE_M, TILE_K, n - BY * TILE_M, k - start, THREAD, THREADS)
    KS_COPY_TILE(Bs_AT, B_TILE, TILE_K, TILE_N, k - start, m - BX * TILE_N, THREAD, THREADS)
    __syncthreads();
#pragma unroll
    for (int s = 0; s < TILE_K; ++s) {
#pragma unroll
      for (int i = 0; i < TRD_Y_DIM; ++i)
#pragma unroll
        for (int j = 0; j < TRD_X_DIM; ++j) sum[i][j] += As_AT(ROW_OF(i), s) * Bs_AT(s, COL_OF(j));
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < TRD_Y_DIM; ++i)
#pragma unroll
    for (int j = 0; j < TRD_X_DIM; ++j) {
      const unsigned row = BY * TILE_M + ROW_OF(i), col = BX * TILE_N + COL_OF(j);
      if (row < n && col < m) C_AT(row, col) = sum[i][j];
    }
}
