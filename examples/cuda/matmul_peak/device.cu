// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A block has a tile of C, a thread every THREADS_M-th row and every THREADS_N-th column of it; with K_SPLITS
// blocks along k, each has its part of the products.
__global__ void __launch_bounds__(THREADS) matmul(int n, int m, int k, const float* a, const float* b, float* c) {
  __shared__ float tile_a[TILE_K][TILE_M];
  __shared__ float tile_b[TILE_K][TILE_N];
  const int row = blockIdx.y * TILE_M, column = blockIdx.x * TILE_N;
  const int thread_m = threadIdx.x / THREADS_N, thread_n = threadIdx.x % THREADS_N;
  const int part = (k + K_SPLITS - 1) / K_SPLITS, begin = blockIdx.z * part, end = min(k, begin + part);
  float sums[THREAD_M][THREAD_N] = {};
  for (int slice = begin; slice < end; slice += TILE_K) {
    for (int i = threadIdx.x; i < TILE_K * TILE_M; i += THREADS) {
      const int r = i / TILE_K, s = i % TILE_K;
      tile_a[s][r] = slice + s < end ? A(row + r, slice + s) : 0.0f;
    }
    for (int i = threadIdx.x; i < TILE_K * TILE_N; i += THREADS) {
      const int s = i / TILE_N, r = i % TILE_N;
      tile_b[s][r] = slice + s < end ? B(slice + s, column + r) : 0.0f;
    }
    __syncthreads();
#pragma unroll
    for (int s = 0; s < TILE_K; ++s)
#pragma unroll
      for (int i = 0; i < THREAD_M; ++i)
#pragma unroll
        for (int j = 0; j < THREAD_N; ++j)
          sums[i][j] += tile_a[s][thread_m + i * THREADS_M] * tile_b[s][thread_n + j * THREADS_N];
    __syncthreads();
  }
  c += (size_t)blockIdx.z * n * m;
  for (int i = 0; i < THREAD_M; ++i)
    for (int j = 0; j < THREAD_N; ++j) {
      const int r = row + thread_m + i * THREADS_M, s = column + thread_n + j * THREADS_N;
      if (r < n && s < m) C(r, s) = sums[i][j];
    }
}

__global__ void add_parts(int n, int m, const float* partial, float* c) {
  const size_t elements = (size_t)n * m, i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= elements) return;
  float sum = 0;
  for (int part = 0; part < K_SPLITS; ++part) sum += partial[part * elements + i];
  c[i] = sum;
}
