// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
__global__ void __launch_bounds__(THREADS) matmul(int n, int m, int k, const __half* a, const __half* b, __half* c) {
  __shared__ __half tile_a[TILE_M][TILE_K];
  __shared__ __half tile_b[TILE_K][TILE_N];
  float sum[OUTPUTS] = {};
  for (int start = 0; start < k; start += TILE_K) {
    KS_COPY_TILE(As_AT, A_TILE, TILE_M, TILE_K, n - BY * TILE_M, k - start, THREAD, THREADS)
    KS_COPY_TILE(Bs_AT, B_TILE, TILE_K, TILE_N, k - start, m - BX * TILE_N, THREAD, THREADS)
    __syncthreads();
#pragma unroll
    for (int s = 0; s < TILE_K; ++s)
#pragma unroll
      for (int i = 0; i < OUTPUTS; ++i) sum[i] += __half2float(As_AT(ROW_OF(i), s)) * __half2float(Bs_AT(s, COL_OF(i)));
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < OUTPUTS; ++i) {
    const unsigned row = BY * TILE_M + ROW_OF(i), col = BX * TILE_N + COL_OF(i);
    if (row < n && col < m) C_AT(row, col) = __float2half(sum[i]);
  }
}
