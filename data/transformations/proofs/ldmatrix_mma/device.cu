// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
__global__ void __launch_bounds__(THREADS) matmul(int n, int m, int k, const __half* a, const __half* b, __half* c) {
  extern __shared__ __align__(128) unsigned char memory[];
  __half* const tile_a = reinterpret_cast<__half*>(memory);
  __half* const tile_b = tile_a + A_HALVES;
  const int tile = blockIdx.x, block_row = TILE_ROW(tile), block_col = TILE_COL(tile);
  float sums[TENSOR_Y_DIM][2 * TENSOR_X_DIM][4] = {};
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
      unsigned from_a[TENSOR_Y_DIM][4], from_b[TENSOR_X_DIM][4];
#pragma unroll
      for (int i = 0; i < TENSOR_Y_DIM; ++i)
        ks_load_a(from_a[i], __cvta_generic_to_shared(&As_AT(WARP_ROW + 16 * i + LANE % 16, s + LANE / 16 * 8)));
#pragma unroll
      for (int j = 0; j < TENSOR_X_DIM; ++j)
        ks_load_b(from_b[j], __cvta_generic_to_shared(&Bs_AT(s + LANE % 16, WARP_COL + 16 * j + LANE / 16 * 8)));
#pragma unroll
      for (int i = 0; i < TENSOR_Y_DIM; ++i)
#pragma unroll
        for (int j = 0; j < 2 * TENSOR_X_DIM; ++j)
          ks_mma(sums[i][j], from_a[i], from_b[j / 2][j % 2 * 2], from_b[j / 2][j % 2 * 2 + 1]);
    }
    free_buffer = buffer;
    buffer = buffer + 1 == NUM_STAGES ? 0 : buffer + 1;
  }
  __syncthreads();  // nobody reads tiles any more
  __half* const tile_c = tile_a;
#pragma unroll
  for (int i = 0; i < TENSOR_Y_DIM; ++i)
#pragma unroll
    for (int j = 0; j < 2 * TENSOR_X_DIM; ++j) {
      const int r = WARP_ROW + 16 * i + LANE / 4, s = WARP_COL + 8 * j + LANE % 4 * 2;
      *reinterpret_cast<__half2*>(&Cs_AT(r, s)) = __floats2half2_rn(sums[i][j][0], sums[i][j][1]);
      *reinterpret_cast<__half2*>(&Cs_AT(r + 8, s)) = __floats2half2_rn(sums[i][j][2], sums[i][j][3]);
    }
  __syncthreads();
#pragma unroll
  for (int at = THREAD; at < TILE_M * TILE_N / 8; at += THREADS) {
    const int r = at / (TILE_N / 8), s = at % (TILE_N / 8) * 8;
    const int row = block_row * TILE_M + r, col = block_col * TILE_N + s;
    if (row >= n) continue;
    if (m % 8 == 0 && col + 8 <= m) {
      *reinterpret_cast<uint4*>(&C_AT(row, col)) = *reinterpret_cast<const uint4*>(&Cs_AT(r, s));
    } else {
      for (int e = 0; e < 8; ++e)
        if (col + e < m) C_AT(row, col + e) = Cs_AT(r, s + e);
    }
  }
}
