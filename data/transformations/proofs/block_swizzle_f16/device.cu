// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
__global__ void __launch_bounds__(THREADS) matmul(int n, int m, int k, const __half* a, const __half* b, __half* c) {
  extern __shared__ __align__(128) unsigned char memory[];
  __half* const tile_a = reinterpret_cast<__half*>(memory);
  __half* const tile_b = tile_a + A_HALVES;
  const int tile = blockIdx.x, block_row = TILE_ROW(tile), block_col = TILE_COL(tile);
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
      KS_COPY_TILE(As_AT, A_TILE, TILE_M, TILE_K, n - block_row * TILE_M, k - start, THREAD, THREADS)
#pragma unroll 1
      KS_COPY_TILE(Bs_AT, B_TILE, TILE_K, TILE_N, k - start, m - block_col * TILE_N, THREAD, THREADS)
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
  for (int i = 0; i < TENSOR_Y_DIM; ++i) {
#pragma unroll
    for (int j = 0; j < TENSOR_X_DIM; ++j)
      nvcuda::wmma::store_matrix_sync(&SCRATCH_AT(0, 16 * j), sums[i][j], SCRATCH_PITCH, nvcuda::wmma::mem_row_major);
    __syncwarp();
    // Eight neighbours of a row at a time: 16 bytes of halves.
#pragma unroll
    for (int at = LANE; at < 16 * WARP_TILE_N / 8; at += 32) {
      const int r = at / (WARP_TILE_N / 8), s = at % (WARP_TILE_N / 8) * 8;
      const unsigned row = block_row * TILE_M + WARP_ROW + 16 * i + r, col = block_col * TILE_N + WARP_COL + s;
      if (row >= n) continue;
      if (m % 8 == 0 && col + 8 <= m) {
        const float4 low = *reinterpret_cast<const float4*>(&SCRATCH_AT(r, s));
        const float4 high = *reinterpret_cast<const float4*>(&SCRATCH_AT(r, s + 4));
        __align__(16) __half2 eight[4] = {__floats2half2_rn(low.x, low.y), __floats2half2_rn(low.z, low.w),
                            __floats2half2_rn(high.x, high.y), __floats2half2_rn(high.z, high.w)};
        *reinterpret_cast<uint4*>(&C_AT(row, col)) = *reinterpret_cast<const uint4*>(eight);
      } else {
        for (int e = 0; e < 8; ++e)
          if (col + e < m) C_AT(row, col + e) = __float2half(SCRATCH_AT(r, s + e));
      }
    }
    __syncwarp();  // before the next rows take their place
  }
}
