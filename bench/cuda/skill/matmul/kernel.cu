// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// C = A B, n x n, row-major, n a multiple of 64; 256 threads a block. Each method of methods/matmul.json can
// be put in by itself; writer.py sets these.
#ifndef TILE
#  define TILE 0       // memory.tiling_smem: tiles of A and B in shared memory
#  define REGISTER 0   // compute.ilp_unroll_register_tile: 4 x 4 elements of C a thread
#  define UNROLL 1     // compute.loop_unroll: steps of the depth at once
#  define READ_ONLY 0  // latency.read_only_loads: through the read-only path, which no load here waits for
#  define DEPTH 16     // of a tile
#endif

#if READ_ONLY
#  define LOAD(address) __ldg(&(address))
#else
#  define LOAD(address) (address)
#endif

constexpr int per_thread = REGISTER ? 4 : 1;
constexpr int edge = 16 * per_thread;

extern "C" __global__ void __launch_bounds__(256) matmul(int n, const float* a, const float* b, float* c) {
#if TILE
  __shared__ float tile_a[edge][DEPTH + 1];
  __shared__ float tile_b[DEPTH][edge];
#endif
  const int tx = threadIdx.x % 16;
  const int ty = threadIdx.x / 16;
  const int tiles = n / edge;
  constexpr int unrolled = UNROLL;
  for (int tile = blockIdx.x; tile < tiles * tiles; tile += gridDim.x) {
    const int row = tile / tiles * edge;
    const int column = tile % tiles * edge;
    float sum[per_thread][per_thread] = {};
#if TILE
    for (int depth = 0; depth < n; depth += DEPTH) {
      for (int i = threadIdx.x; i < edge * DEPTH; i += 256)
        tile_a[i / DEPTH][i % DEPTH] = LOAD(a[(row + i / DEPTH) * n + depth + i % DEPTH]);
      for (int i = threadIdx.x; i < DEPTH * edge; i += 256)
        tile_b[i / edge][i % edge] = LOAD(b[(depth + i / edge) * n + column + i % edge]);
      __syncthreads();
#  pragma unroll unrolled
      for (int k = 0; k < DEPTH; ++k)
#  pragma unroll
        for (int i = 0; i < per_thread; ++i)
#  pragma unroll
          for (int j = 0; j < per_thread; ++j) sum[i][j] += tile_a[ty + 16 * i][k] * tile_b[k][tx + 16 * j];
      __syncthreads();
    }
#else
#  pragma unroll unrolled
    for (int k = 0; k < n; ++k) {
      float left[per_thread], right[per_thread];
#  pragma unroll
      for (int i = 0; i < per_thread; ++i) left[i] = LOAD(a[(row + ty + 16 * i) * n + k]);
#  pragma unroll
      for (int j = 0; j < per_thread; ++j) right[j] = LOAD(b[k * n + column + tx + 16 * j]);
#  pragma unroll
      for (int i = 0; i < per_thread; ++i)
#  pragma unroll
        for (int j = 0; j < per_thread; ++j) sum[i][j] += left[i] * right[j];
    }
#endif
#pragma unroll
    for (int i = 0; i < per_thread; ++i)
#pragma unroll
      for (int j = 0; j < per_thread; ++j) c[(row + ty + 16 * i) * n + column + tx + 16 * j] = sum[i][j];
  }
}
