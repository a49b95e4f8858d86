// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
__global__ void __launch_bounds__(THREADS, MIN_BLOCKS) matmul(int n, int m, int k, const float* a, const float* b, float* c) {
  __shared__ __align__(16) float tile_a[NUM_STAGES][TILE_K][A_PITCH];
  __shared__ __align__(16) float tile_b[NUM_STAGES][TILE_K][TILE_N];
  const int tile = blockIdx.x, block_row = TILE_ROW(tile), block_col = TILE_COL(tile);
  float sum[TRD_Y_DIM][TRD_X_DIM] = {};
  const int steps = (k + TILE_K - 1) / TILE_K;
  // The tile of A goes through registers, which transposes it; that of B straight to shared memory.
  float4 staged[A_VECTORS];
  const auto read_a = [&](int step) {
    const int start = step * TILE_K;
    if (!WHOLE_TILES || k - start < TILE_K) return;
#pragma unroll
    for (int i = 0; i < A_VECTORS; ++i) {
      const int at = THREAD + i * THREADS;
      if (TILE_M * TILE_K / 4 % THREADS != 0 && at >= TILE_M * TILE_K / 4) continue;
      staged[i] = *(const float4*)&A_TILE(at % TILE_M, at / TILE_M * 4);
    }
  };
  const auto write_a = [&](int buffer, int step) {
    if (!WHOLE_TILES || k - step * TILE_K < TILE_K) return;
#pragma unroll
    for (int i = 0; i < A_VECTORS; ++i) {
      const int at = THREAD + i * THREADS;
      if (TILE_M * TILE_K / 4 % THREADS != 0 && at >= TILE_M * TILE_K / 4) continue;
      const int r = at % TILE_M, s = at / TILE_M * 4;
      As_AT(r, s) = staged[i].x;
      As_AT(r, s + 1) = staged[i].y;
      As_AT(r, s + 2) = staged[i].z;
      As_AT(r, s + 3) = staged[i].w;
    }
  };
  const auto fill = [&](int buffer, int step) {
    const int start = step * TILE_K;
    if (WHOLE_TILES && k - start >= TILE_K) {
      KS_COPY_TILE_ASYNC(Bs_AT, B_TILE, TILE_K, TILE_N, 4, 16, THREAD, THREADS)
    } else {
#pragma unroll 1
      KS_COPY_TILE(As_AT, A_TILE, TILE_M, TILE_K, n - block_row * TILE_M, k - start, THREAD, THREADS)
#pragma unroll 1
      KS_COPY_TILE(Bs_AT, B_TILE, TILE_K, TILE_N, k - start, m - block_col * TILE_N, THREAD, THREADS)
    }
  };
#pragma unroll
  for (int i = 0; i < NUM_STAGES - 1; ++i) {
    if (i < steps) {
      fill(i, i);
      read_a(i);
      write_a(i, i);
    }
    ks_copies_commit();
  }
  int buffer = 0, free_buffer = NUM_STAGES - 1;
  for (int step = 0; step < steps; ++step) {
    const int next = step + NUM_STAGES - 1;
    if (NUM_STAGES == 1) {
      if (step > 0) __syncthreads();  // the only buffer is read until here
      fill(0, step);
      read_a(step);
      write_a(0, step);
      ks_copies_commit();
    }
    ks_copies_wait<STAGES_PENDING>();
    __syncthreads();
#pragma unroll
    for (int s = 0; s < TILE_K; ++s) {
      Chunk from_a[TRD_Y_DIM / CHUNK_SIZE], from_b[TRD_X_DIM / CHUNK_SIZE];
#pragma unroll
      for (int i = 0; i < TRD_Y_DIM; i += CHUNK_SIZE) from_a[i / CHUNK_SIZE] = *(const Chunk*)&As_AT(ROW_OF(i), s);
#pragma unroll
      for (int j = 0; j < TRD_X_DIM; j += CHUNK_SIZE) from_b[j / CHUNK_SIZE] = *(const Chunk*)&Bs_AT(s, COL_OF(j));
      // Behind the first operands' loads: nothing waits for the copies' addresses. The buffer of the step before is free,
      // since all threads passed the barrier after they had read it.
      if (s == 0 && NUM_STAGES > 1) {
        if (next < steps) {
          fill(free_buffer, next);
          read_a(next);
        }
        ks_copies_commit();
      }
#pragma unroll
      for (int i = 0; i < TRD_Y_DIM; ++i)
#pragma unroll
        for (int j = 0; j < TRD_X_DIM; ++j)
          sum[i][j] += from_a[i / CHUNK_SIZE].at[i % CHUNK_SIZE] * from_b[j / CHUNK_SIZE].at[j % CHUNK_SIZE];
    }
    // Into the same free buffer; the barrier of the next step makes it visible.
    if (NUM_STAGES > 1 && next < steps) write_a(free_buffer, next);
    free_buffer = buffer;
    buffer = buffer + 1 == NUM_STAGES ? 0 : buffer + 1;
  }
#pragma unroll
  for (int i = 0; i < TRD_Y_DIM; ++i)
#pragma unroll
    for (int j = 0; j < TRD_X_DIM; j += CHUNK_SIZE) {
      const unsigned row = block_row * TILE_M + ROW_OF(i), col = block_col * TILE_N + COL_OF(j);
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
