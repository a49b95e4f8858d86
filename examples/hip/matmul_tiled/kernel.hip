// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// C = A B, row-major, n x k times k x m. A block computes TILE_M x TILE_N of C from tiles of A and B in shared
// memory that are TILE_K deep; a thread computes THREAD_M x THREAD_N elements that are spread over the tile, so
// that neighbours read neighbouring words. A's tile is kept transposed.
#include "kernelsearch/device/portable.hpp"

namespace ks = kernelsearch::device;

constexpr int across = TILE_N / THREAD_N, down = TILE_M / THREAD_M, threads = across * down;

extern "C" __global__ void __launch_bounds__(threads) KERNELSEARCH_WAVES_PER_EU(WAVES)
matmul(int n, int m, int k, const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c) {
  __shared__ float a_tile[TILE_K][TILE_M + PAD];
  __shared__ float b_tile[TILE_K][TILE_N];
  const int t = static_cast<int>(threadIdx.x), column = t % across, row = t / across;
  const int first_row = static_cast<int>(blockIdx.y) * TILE_M, first_column = static_cast<int>(blockIdx.x) * TILE_N;
  float sum[THREAD_M][THREAD_N] = {};
  for (int depth = 0; depth < k; depth += TILE_K) {
    for (int i = t; i < TILE_M * TILE_K; i += threads) {
      const int r = i / TILE_K, d = i % TILE_K;
      const bool inside = first_row + r < n && depth + d < k;
      a_tile[d][r] = inside ? a[static_cast<long long>(first_row + r) * k + depth + d] : 0.0f;
    }
    for (int i = t; i < TILE_K * TILE_N; i += threads) {
      const int d = i / TILE_N, s = i % TILE_N;
      const bool inside = depth + d < k && first_column + s < m;
      b_tile[d][s] = inside ? b[static_cast<long long>(depth + d) * m + first_column + s] : 0.0f;
    }
    __syncthreads();
    KERNELSEARCH_UNROLL(UNROLL)
    for (int d = 0; d < TILE_K; ++d) {
      float from_a[THREAD_M], from_b[THREAD_N];
      KERNELSEARCH_UNROLL(THREAD_M)
      for (int i = 0; i < THREAD_M; ++i) from_a[i] = a_tile[d][row + i * down];
      KERNELSEARCH_UNROLL(THREAD_N)
      for (int j = 0; j < THREAD_N; ++j) from_b[j] = b_tile[d][column + j * across];
      KERNELSEARCH_UNROLL(THREAD_M)
      for (int i = 0; i < THREAD_M; ++i)
        KERNELSEARCH_UNROLL(THREAD_N)
        for (int j = 0; j < THREAD_N; ++j) sum[i][j] = fmaf(from_a[i], from_b[j], sum[i][j]);
    }
    __syncthreads();
  }
  for (int i = 0; i < THREAD_M; ++i)
    for (int j = 0; j < THREAD_N; ++j) {
      const int r = first_row + row + i * down, s = first_column + column + j * across;
      if (r < n && s < m) c[static_cast<long long>(r) * m + s] = sum[i][j];
    }
}
