// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
__global__ void __launch_bounds__(THREADS) matmul(int n, int m, int k, const __half* a, const __half* b, __half* c) {
  __shared__ __align__(32) __half tile_a[TILE_M][TILE_K];
  __shared__ __align__(32) __half tile_b[TILE_K][TILE_N];
  __shared__ __align__(32) float scratch[WARPS][16][16];  // of each warp, for its results on their way out
  Sums sums;
  nvcuda::wmma::fill_fragment(sums, 0.0f);
  for (int start = 0; start < k; start += TILE_K) {
    KS_COPY_TILE(As_AT, A_TILE, TILE_M, TILE_K, n - BY * TILE_M, k - start, THREAD, THREADS)
    KS_COPY_TILE(Bs_AT, B_TILE, TILE_K, TILE_N, k - start, m - BX * TILE_N, THREAD, THREADS)
    __syncthreads();
#pragma unroll
    for (int s = 0; s < TILE_K; s += 16) {
      FragmentA from_a;
      FragmentB from_b;
      nvcuda::wmma::load_matrix_sync(from_a, &As_AT(WARP_ROW, s), TILE_K);
      nvcuda::wmma::load_matrix_sync(from_b, &Bs_AT(s, WARP_COL), TILE_N);
      nvcuda::wmma::mma_sync(sums, from_a, from_b, sums);
    }
    __syncthreads();
  }
  nvcuda::wmma::store_matrix_sync(&scratch[WARP][0][0], sums, 16, nvcuda::wmma::mem_row_major);
  __syncwarp();
#pragma unroll
  for (int i = LANE; i < 256; i += 32) {
    const unsigned row = BY * TILE_M + WARP_ROW + i / 16, col = BX * TILE_N + WARP_COL + i % 16;
    if (row < n && col < m) C_AT(row, col) = __float2half(scratch[WARP][i / 16][i % 16]);
  }
}
