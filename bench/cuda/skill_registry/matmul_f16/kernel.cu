// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// C = A B, n x n, row-major, half in, single out, n a multiple of 128; 256 threads a block, which take tiles of
// C in turn. merit.json says which method each macro is; the writer sets them.
#include <cuda_fp16.h>

#ifndef TENSOR
#  define TENSOR 0      // products by mma.sync
#  define TILE 0        // tiles of A and B in shared memory
#  define ASYNC 0       // filled by cp.async while others are computed
#  define STAGES 2      // tiles in shared memory at once, where they are filled so
#  define VECTOR 0      // 16 bytes an access
#  define SWIZZLE 0     // rows permuted, so that a warp's threads touch different banks
#  define LDMATRIX 0    // fragments by ldmatrix
#  define READ_ONLY 0   // the arrays are said not to overlap
#  define STRIP 1       // rows of tiles that blocks running together are spread over
#  define MIN_BLOCKS 1  // for which registers are to suffice
#endif

#if READ_ONLY
#  define APART __restrict__
#else
#  define APART
#endif

namespace {

constexpr int large = TENSOR || TILE;
constexpr int edge = large ? 128 : 16;
constexpr int depth = 32;
constexpr int stages = ASYNC ? STAGES : 1;

struct Tiles {
  uint4 a[stages][128 * 4];
  uint4 b[stages][depth * 16];
};

// Places in units of eight values.
__device__ __forceinline__ int at_a(int row, int unit) { return row * 4 + (SWIZZLE ? unit ^ (row / 2 % 4) : unit); }
__device__ __forceinline__ int at_b(int row, int unit) { return row * 16 + (SWIZZLE ? unit ^ (row % 8) : unit); }

__device__ __forceinline__ __half value_a(const uint4* tile, int row, int k) {
  return reinterpret_cast<const __half*>(tile)[at_a(row, k / 8) * 8 + k % 8];
}
__device__ __forceinline__ __half value_b(const uint4* tile, int k, int column) {
  return reinterpret_cast<const __half*>(tile)[at_b(k, column / 8) * 8 + column % 8];
}

__device__ __forceinline__ unsigned packed(__half low, __half high) {
  return static_cast<unsigned>(__half_as_ushort(low)) | static_cast<unsigned>(__half_as_ushort(high)) << 16;
}

__device__ __forceinline__ void multiply(float (&d)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

}  // namespace

extern "C" __global__ void __launch_bounds__(256, MIN_BLOCKS)
    matmul(int n, const __half* APART a, const __half* APART b, float* APART c) {
#if TILE
  __shared__ Tiles tiles;
#endif
  const int thread = threadIdx.x;
  const int across = n / edge;
  for (int tile = blockIdx.x; tile < across * across; tile += gridDim.x) {
    const int strip = tile / (STRIP * across);
    const int inside = tile - strip * (STRIP * across);
    const int wide = across - strip * STRIP < STRIP ? across - strip * STRIP : STRIP;
    const int row = (strip * STRIP + inside % wide) * edge;
    const int column = inside / wide * edge;

#if !TENSOR && !TILE
    const int y = row + thread / 16, x = column + thread % 16;
    float sum = 0;
    for (int k = 0; k < n; ++k)
      sum += __half2float(a[static_cast<size_t>(y) * n + k]) * __half2float(b[static_cast<size_t>(k) * n + x]);
    c[static_cast<size_t>(y) * n + x] = sum;
#else

    const auto fill = [&](int step) {
#  if TILE
      const int k = step * depth;
      uint4* to_a = tiles.a[step % stages];
      uint4* to_b = tiles.b[step % stages];
#    if ASYNC
#      pragma unroll
      for (int i = thread; i < 512; i += 256) {
        const unsigned there_a = static_cast<unsigned>(__cvta_generic_to_shared(to_a + at_a(i / 4, i % 4)));
        const __half* from_a = a + static_cast<size_t>(row + i / 4) * n + k + i % 4 * 8;
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(there_a), "l"(from_a) : "memory");
        const unsigned there_b = static_cast<unsigned>(__cvta_generic_to_shared(to_b + at_b(i / 16, i % 16)));
        const __half* from_b = b + static_cast<size_t>(k + i / 16) * n + column + i % 16 * 8;
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(there_b), "l"(from_b) : "memory");
      }
#    elif VECTOR
#      pragma unroll
      for (int i = thread; i < 512; i += 256) {
        to_a[at_a(i / 4, i % 4)] =
            *reinterpret_cast<const uint4*>(a + static_cast<size_t>(row + i / 4) * n + k + i % 4 * 8);
        to_b[at_b(i / 16, i % 16)] =
            *reinterpret_cast<const uint4*>(b + static_cast<size_t>(k + i / 16) * n + column + i % 16 * 8);
      }
#    else
#      pragma unroll 4
      for (int i = thread; i < 4096; i += 256) {
        reinterpret_cast<__half*>(to_a)[at_a(i / 32, i % 32 / 8) * 8 + i % 8] =
            a[static_cast<size_t>(row + i / 32) * n + k + i % 32];
        reinterpret_cast<__half*>(to_b)[at_b(i / 128, i % 128 / 8) * 8 + i % 8] =
            b[static_cast<size_t>(k + i / 128) * n + column + i % 128];
      }
#    endif
#  endif
    };

#  if TENSOR
    const int lane = thread % 32;
    const int warp_row = thread / 32 / 4 * 64, warp_column = thread / 32 % 4 * 32;
    float sums[4][4][4] = {};
#  else
    float sums[8][8] = {};
#  endif
    const auto compute = [&](int step) {
#  if TILE
      const uint4* tile_a = tiles.a[step % stages];
      const uint4* tile_b = tiles.b[step % stages];
#  endif
#  if TENSOR
#    pragma unroll
      for (int k = 0; k < depth; k += 16) {
        unsigned left[4][4], right[2][4];
#    if TILE && LDMATRIX
#      pragma unroll
        for (int i = 0; i < 4; ++i) {
          const unsigned from = static_cast<unsigned>(
              __cvta_generic_to_shared(tile_a + at_a(warp_row + 16 * i + lane % 16, k / 8 + lane / 16)));
          asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                       : "=r"(left[i][0]), "=r"(left[i][1]), "=r"(left[i][2]), "=r"(left[i][3])
                       : "r"(from));
        }
#      pragma unroll
        for (int j = 0; j < 2; ++j) {
          const unsigned from = static_cast<unsigned>(__cvta_generic_to_shared(
              tile_b + at_b(k + lane % 16, (warp_column + 16 * j) / 8 + lane / 16)));
          asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                       : "=r"(right[j][0]), "=r"(right[j][1]), "=r"(right[j][2]), "=r"(right[j][3])
                       : "r"(from));
        }
#    else
        const int g = lane / 4, t = lane % 4 * 2;
#      pragma unroll
        for (int i = 0; i < 4; ++i)
#      pragma unroll
          for (int r = 0; r < 4; ++r) {
            const int y = warp_row + 16 * i + g + r % 2 * 8, at = k + t + r / 2 * 8;
#      if TILE
            left[i][r] = packed(value_a(tile_a, y, at), value_a(tile_a, y, at + 1));
#      else
            const __half* from = a + static_cast<size_t>(row + y) * n + step * depth + at;
            left[i][r] = packed(from[0], from[1]);
#      endif
          }
#      pragma unroll
        for (int j = 0; j < 2; ++j)
#      pragma unroll
          for (int r = 0; r < 4; ++r) {
            const int x = warp_column + 16 * j + r / 2 * 8 + g, at = k + t + r % 2 * 8;
#      if TILE
            right[j][r] = packed(value_b(tile_b, at, x), value_b(tile_b, at + 1, x));
#      else
            const __half* from = b + static_cast<size_t>(step * depth + at) * n + column + x;
            right[j][r] = packed(from[0], from[n]);
#      endif
          }
#    endif
#    pragma unroll
        for (int i = 0; i < 4; ++i)
#    pragma unroll
          for (int j = 0; j < 4; ++j)
            multiply(sums[i][j], left[i], right[j / 2][j % 2 * 2], right[j / 2][j % 2 * 2 + 1]);
      }
#  else
      for (int k = 0; k < depth; ++k) {
        float left[8], right[8];
#    pragma unroll
        for (int i = 0; i < 8; ++i) left[i] = __half2float(value_a(tile_a, thread / 16 + 16 * i, k));
#    pragma unroll
        for (int j = 0; j < 8; ++j) right[j] = __half2float(value_b(tile_b, k, thread % 16 + 16 * j));
#    pragma unroll
        for (int i = 0; i < 8; ++i)
#    pragma unroll
          for (int j = 0; j < 8; ++j) sums[i][j] += left[i] * right[j];
      }
#  endif
    };

    const int steps = n / depth;
#  if ASYNC && TILE
#    pragma unroll
    for (int i = 0; i < stages - 1; ++i) {
      if (i < steps) fill(i);
      asm volatile("cp.async.commit_group;" ::: "memory");
    }
    for (int step = 0; step < steps; ++step) {
      asm volatile("cp.async.wait_group %0;" ::"n"(stages - 2) : "memory");
      __syncthreads();
      if (step + stages - 1 < steps) fill(step + stages - 1);
      asm volatile("cp.async.commit_group;" ::: "memory");
      compute(step);
    }
    __syncthreads();
#  elif TILE
    for (int step = 0; step < steps; ++step) {
      fill(step);
      __syncthreads();
      compute(step);
      __syncthreads();
    }
#  else
    for (int step = 0; step < steps; ++step) compute(step);
#  endif

#  if TENSOR
#    pragma unroll
    for (int i = 0; i < 4; ++i)
#    pragma unroll
      for (int j = 0; j < 4; ++j) {
        float* to = c + static_cast<size_t>(row + warp_row + 16 * i + lane / 4) * n + column + warp_column +
                    8 * j + lane % 4 * 2;
        *reinterpret_cast<float2*>(to) = make_float2(sums[i][j][0], sums[i][j][1]);
        *reinterpret_cast<float2*>(to + 8 * static_cast<size_t>(n)) = make_float2(sums[i][j][2], sums[i][j][3]);
      }
#  else
#    pragma unroll
    for (int i = 0; i < 8; ++i)
#    pragma unroll
      for (int j = 0; j < 8; ++j)
        c[static_cast<size_t>(row + thread / 16 + 16 * i) * n + column + thread % 16 + 16 * j] = sums[i][j];
#  endif
#endif
  }
}
