// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
__global__ void __launch_bounds__(THREADS) matmul(int n, int m, int k, const float* a, const float* b, float* c) {
  __shared__ __align__(16) float tile_a[TILE_K][A_PITCH];
  __shared__ __align__(16) float tile_b[TILE_K][TILE_N];
  float sum[TRD_Y_DIM][TRD_X_DIM] = {};
  for (int start = 0; start < k; start += TILE_K) {
    KS_COPY_TILE(As_AT, A_TILE, TILE_M, TILE_K, n - BY * TILE_M, k - start, THREAD, THREADS)
    KS_COPY_TILE(Bs_AT, B_TILE, TILE_K, TILE_N, k - start, m - BX * TILE_N, THREAD, THREADS)
    __syncthreads();
#pragma unroll
    for (int s = 0; s < TILE_K; ++s) {
      Chunk from_a[TRD_Y_DIM / CHUNK_SIZE], from_b[TRD_X_DIM / CHUNK_SIZE];
#pragma unroll
      for (int i = 0; i < TRD_Y_DIM; i += CHUNK_SIZE) from_a[i / CHUNK_SIZE] = *(const Chunk*)&As_AT(ROW_OF(i), s);
#pragma unroll
      for (int j = 0; j < TRD_X_DIM; j += CHUNK_SIZE) from_b[j / CHUNK_SIZE] = *(const Chunk*)&Bs_AT(s, COL_OF(j));
#pragma unroll
      for (int i = 0; i < TRD_Y_DIM; ++i)
#pragma unroll
        for (int j = 0; j < TRD_X_DIM; ++j)
          sum[i][j] += from_a[i / CHUNK_SIZE].at[i % CHUNK_SIZE] * from_b[j / CHUNK_SIZE].at[j % CHUNK_SIZE];
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < TRD_Y_DIM; ++i)
#pragma unroll
    for (int j = 0; j < TRD_X_DIM; j += CHUNK_SIZE) {
      const unsigned row = BY * TILE_M + ROW_OF(i), col = BX * TILE_N + COL_OF(j);
      if (row >= n) continue;
      if (m % CHUNK_SIZE == 0 && col + CHUNK_SIZE <= m) {
        Chunk out;
#pragma unroll
        for (int e = 0; e < CHUNK_SIZE; ++e) out.at[e] = sum[i][j + e];
        *(Chunk*)&C_AT(row, col) = out;
      } else {
#pragma unroll
        for (int e = 0; e < CHUNK_SIZE; ++e)
          if (col + e < m) C_AT(row, col + e) = sum[i][j + e];
      }
    }
}
