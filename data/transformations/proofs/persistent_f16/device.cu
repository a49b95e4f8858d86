// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
__global__ void __launch_bounds__(THREADS, 1)
    matmul(int n, int m, int k, const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b,
           const __grid_constant__ CUtensorMap map_c) {
  extern __shared__ __align__(1024) unsigned char memory[];
  const unsigned base = (unsigned)__cvta_generic_to_shared(memory);
  const int group = __shfl_sync(0xffffffffu, threadIdx.x / 128, 0);  // the same in all lanes, and known to be
  if (threadIdx.x == 0) {
    for (int i = 0; i < NUM_STAGES; ++i) {
      ks_barrier_init(FULL(i), 1);
      ks_barrier_init(EMPTY(i), CONSUMERS);
    }
    ks_barriers_ready();
  }
  __syncthreads();
  const int steps = (k + TILE_K - 1) / TILE_K;
  int stage = 0;
  unsigned parity = 0;
  if (group == 0) {
    KS_REGISTERS_DOWN(COPY_REGISTERS);
    if (threadIdx.x == 0) {
      for (int tile = blockIdx.x; tile < TILES_M * TILES_N; tile += gridDim.x) {
        const int row = TILE_ROW(tile) * TILE_M, col = TILE_COL(tile) * TILE_N;
        for (int step = 0; step < steps; ++step) {
          ks_barrier_wait(EMPTY(stage), parity ^ 1);
          ks_barrier_expect(FULL(stage), STAGE_BYTES);
          const unsigned to = base + stage * STAGE_BYTES;
          ks_copy_in(to, map_a, step * TILE_K, row, FULL(stage));
#pragma unroll
          for (int panel = 0; panel < TILE_N / 64; ++panel)
            ks_copy_in(to + A_BYTES + panel * PANEL_BYTES, map_b, col + 64 * panel, step * TILE_K, FULL(stage));
          if (++stage == NUM_STAGES) stage = 0, parity ^= 1;
        }
      }
    }
  } else {
    KS_REGISTERS_UP(MULTIPLY_REGISTERS);
    const int consumer = group - 1, thread = threadIdx.x % 128, lane = threadIdx.x % 32;
    float sums[TILE_N / 2];
    for (int tile = blockIdx.x; tile < TILES_M * TILES_N; tile += gridDim.x) {
      const int row = TILE_ROW(tile) * TILE_M + 64 * consumer, col = TILE_COL(tile) * TILE_N;
      int last = 0;
      for (int step = 0; step < steps; ++step) {
        ks_barrier_wait(FULL(stage), parity);
        const unsigned from_a = base + stage * STAGE_BYTES + 64 * 128 * consumer;
        const unsigned from_b = base + stage * STAGE_BYTES + A_BYTES;
        ks_products_begin();
#pragma unroll
        for (int depth = 0; depth < TILE_K; depth += 16)
          ks_multiply(sums, ks_matrix_a(from_a + 2 * depth), ks_matrix_b(from_b + 128 * depth, PANEL_BYTES), step > 0 || depth > 0);
        ks_products_commit();
        // While these run, those of the step before are done, and their stage is free.
        ks_products_wait<1>();
        if (step > 0 && thread == 0) ks_barrier_arrive(EMPTY(last));
        last = stage;
        if (++stage == NUM_STAGES) stage = 0, parity ^= 1;
      }
      ks_products_wait<0>();
      if (thread == 0) ks_barrier_arrive(EMPTY(last));
      // 64 x 64 results at a time through shared memory, swizzled as the copy engine expects them.
      const int r = thread / 32 * 16 + lane % 16;
#pragma unroll
      for (int panel = 0; panel < TILE_N / 64; ++panel) {
        const unsigned to = base + STORES_AT + (consumer * 2 + panel % 2) * STORE_BYTES;
        if (thread == 0) ks_copies_out_read<1>();
        GROUP_BARRIER(consumer);
#pragma unroll
        for (int unit = 0; unit < 8; unit += 2) {
          const float* s = sums + panel * 32 + unit * 4;
          ks_store_matrices(to + r * 128 + (((unit + lane / 16) ^ (r % 8)) << 4), PACK(s[0], s[1]), PACK(s[2], s[3]),
                            PACK(s[4], s[5]), PACK(s[6], s[7]));
        }
        ks_stores_before_copy();
        GROUP_BARRIER(consumer);
        if (thread == 0) ks_copy_out(map_c, col + 64 * panel, row, to);
      }
    }
    if (thread == 0) ks_copies_out_read<0>();
  }
}
