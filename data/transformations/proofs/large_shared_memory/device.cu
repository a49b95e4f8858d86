// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
__global__ void __launch_bounds__(THREADS) matmul(int n, int m, int k, const __half* a, const __half* b, __half* c) {
  extern __shared__ __align__(128) unsigned char memory[];
  __half* const tile_a = reinterpret_cast<__half*>(memory);
  __half* const tile_b = tile_a + A_HALVES;
  Sums sums[TENSOR_Y_DIM][TENSOR_X_DIM];
#pragma unroll
  for (int i = 0; i < TENSOR_Y_DIM; ++i)
#pragma unroll
    for (int j = 0; j < TENSOR_X_DIM; ++j) nvcuda::wmma::fill_fragment(sums[i][j], 0.0f);
  const int steps = (k + TILE_K - 1) / TILE_K;
  const auto fill = [&](int buffer, int step) {
    const int start = step * TILE_K;
    if (WHOLE_TILES && k - start >= TILE_K) {
      KS_COPY_TILE_ASYNC(As_AT, A_TILE, TILE_M, TILE_K, 8, 16, THREAD, THREADS)
      KS_COPY_TILE_ASYNC(Bs_AT, B_TILE, TILE_K, TILE_N, 8, 16, THREAD, THREADS)
    } else {
#pragma unroll 1
      KS_COPY_TILE(As_AT, A_TILE, TILE_M, TILE_K, n - BY * TILE_M, k - start, THREAD, THREADS)
#pragma unroll 1
      KS_COPY_TILE(Bs_AT, B_TILE, TILE_K, TILE_N, k - start, m - BX * TILE_N, THREAD, THREADS)
    }
  };
#pragma unroll
  for (int i = 0; i < NUM_STAGES - 1; ++i) {
    if (i < steps) fill(i, i);
    ks_copies_commit();
  }
  int buffer = 0, free_buffer = NUM_STAGES - 1;
  for (int step = 0; step < steps; ++step) {
    const int next = step + NUM_STAGES - 1;
    if (NUM_STAGES == 1) {
      if (step > 0) __syncthreads();  // the only buffer is read until here
      fill(0, step);
      ks_copies_commit();
    }
    ks_copies_wait<STAGES_PENDING>();
    __syncthreads();
    // The buffer of the step before is free: all threads passed the barrier after they had read it.
    if (NUM_STAGES > 1) {
      if (next < steps) fill(free_buffer, next);
      ks_copies_commit();
    }
#pragma unroll
    for (int s = 0; s < TILE_K; s += 16) {
      FragmentA from_a[TENSOR_Y_DIM];
      FragmentB from_b[TENSOR_X_DIM];
#pragma unroll
      for (int i = 0; i < TENSOR_Y_DIM; ++i)
        nvcuda::wmma::load_matrix_sync(from_a[i], &As_AT(WARP_ROW + 16 * i, s), A_PITCH);
#pragma unroll
      for (int j = 0; j < TENSOR_X_DIM; ++j)
        nvcuda::wmma::load_matrix_sync(from_b[j], &Bs_AT(s, WARP_COL + 16 * j), B_PITCH);
#pragma unroll
      for (int i = 0; i < TENSOR_Y_DIM; ++i)
#pragma unroll
        for (int j = 0; j < TENSOR_X_DIM; ++j)
          nvcuda::wmma::mma_sync(sums[i][j], from_a[i], from_b[j], sums[i][j]);
    }
    free_buffer = buffer;
    buffer = buffer + 1 == NUM_STAGES ? 0 : buffer + 1;
  }
  __syncthreads();  // nobody reads tiles any more
  float* const scratch = reinterpret_cast<float*>(memory);
#pragma unroll
  for (int i = 0; i < TENSOR_Y_DIM; ++i)
#pragma unroll
    for (int j = 0; j < TENSOR_X_DIM; ++j) {
      nvcuda::wmma::store_matrix_sync(&SCRATCH_AT(0, 0), sums[i][j], 16, nvcuda::wmma::mem_row_major);
      __syncwarp();
#pragma unroll
      for (int at = LANE; at < 256; at += 32) {
        const unsigned row = BY * TILE_M + WARP_ROW + 16 * i + at / 16, col = BX * TILE_N + WARP_COL + 16 * j + at % 16;
        if (row < n && col < m) C_AT(row, col) = __float2half(SCRATCH_AT(at / 16, at % 16));
      }
      __syncwarp();  // before the next fragment takes its place
    }
}
