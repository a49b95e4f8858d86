// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// C = A B in half precision with sums in single precision, row-major: A is n x k, B is k x m, C is n x m; for
// Ampere and later (sm_80). Tiles go through a ring of stages in shared memory with cp.async; warps read them
// with ldmatrix and multiply with mma.sync. SPLIT_K blocks may share a tile: each writes partial sums, which
// `reduce_partials` adds up. Rows must begin at multiples of 16 bytes, so k and m are multiples of 8; at the
// other edges copies fill with zeros and stores are left out.
#include <cuda_fp16.h>

namespace {

constexpr int warps = WARPS_M * WARPS_N;
constexpr int threads = 32 * warps;
constexpr int warp_rows = BM / WARPS_M;
constexpr int warp_columns = BN / WARPS_N;
constexpr int row_blocks = warp_rows / 16;        // of mma.m16n8k16
constexpr int column_blocks = warp_columns / 16;  // pairs of them: what one ldmatrix.x4.trans loads

// Rows in shared memory, in units of 16 bytes. Reading 8 rows at the same unit must touch all banks: either
// rows are a unit longer, or units are permuted by the row.
constexpr int units_a = BK / 8;
constexpr int units_b = BN / 8;
constexpr int pitch_a = units_a + (PAD ? 1 : 0);
constexpr int pitch_b = units_b + (PAD ? 1 : 0);
constexpr int stage_units = BM * pitch_a + BK * pitch_b;
constexpr int pitch_c = units_b + 1;

static_assert(warp_rows % 16 == 0 && warp_columns % 16 == 0 && BK % 16 == 0, "whole instructions");

// Unsigned, so that the compiler sees through the divisions and one address serves many rows.
template <uint32_t units, uint32_t pitch>
__device__ __forceinline__ uint32_t place(uint32_t row, uint32_t unit) {
  if (PAD) return row * pitch + unit;
  constexpr uint32_t wide = units < 8 ? units : 8;
  return row * pitch + (unit ^ (row / (8 / wide) % wide));
}

__device__ __forceinline__ void copy_async(uint32_t to, const void* from, bool inside) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(inside ? 16 : 0)
               : "memory");
}

__device__ __forceinline__ void load_a(uint32_t (&r)[4], uint32_t address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(address));
}

__device__ __forceinline__ void load_b(uint32_t (&r)[4], uint32_t address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(address));
}

__device__ __forceinline__ void multiply(float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// What a warp holds of a stage, 16 deep.
struct Fragments {
  uint32_t a[row_blocks][4];
  uint32_t b[column_blocks][4];
};

}  // namespace

extern "C" __global__ void __launch_bounds__(threads, BLOCKS_PER_SM)
    matmul(int n, int m, int k, const __half* __restrict__ a, const __half* __restrict__ b,
           __half* __restrict__ c, float* __restrict__ partial) {
  extern __shared__ __align__(128) uint4 shared[];
  const uint32_t base = static_cast<uint32_t>(__cvta_generic_to_shared(shared));
  const uint32_t thread = threadIdx.x;
  const uint32_t lane = thread % 32;
  const uint32_t warp_row = thread / 32 / WARPS_N * warp_rows;
  const uint32_t warp_column = thread / 32 % WARPS_N * warp_columns;

  // Tiles in strips of STRIP rows, or columns, so that blocks running together share what they read.
  const int tiles_m = (n + BM - 1) / BM;
  const int tiles_n = (m + BN - 1) / BN;
  const int wide = COLUMN_STRIPS ? tiles_n : tiles_m;
  const int long_side = COLUMN_STRIPS ? tiles_m : tiles_n;
  const int tile = static_cast<int>(blockIdx.x);
  const int strip = tile / (STRIP * long_side);
  const int inside = tile - strip * (STRIP * long_side);
  const int width = min(STRIP, wide - strip * STRIP);
  const int across = strip * STRIP + inside % width;
  const int along = inside / width;
  const int row = (COLUMN_STRIPS ? along : across) * BM;
  const int column = (COLUMN_STRIPS ? across : along) * BN;

  const int all_steps = (k + BK - 1) / BK;
  const int share = (all_steps + SPLIT_K - 1) / SPLIT_K;
  const int first_step = min(all_steps, static_cast<int>(blockIdx.y) * share);
  const int steps = min(all_steps, first_step + share) - first_step;

  // A thread copies every `threads`-th unit of a stage: in full steps of rows where a row divides the
  // threads.
  const auto load_stage = [&](int step) {
    const uint32_t to = base + step % STAGES * (16 * stage_units);
    const int depth = (first_step + step) * BK;
    const __half* from_a = a + static_cast<size_t>(row) * k + depth;
    const __half* from_b = b + static_cast<size_t>(depth) * m + column;
#pragma unroll
    for (uint32_t i = 0; i < (BM * units_a + threads - 1) / threads; ++i) {
      const uint32_t at = thread + i * threads;
      const uint32_t r = at / units_a;
      const uint32_t unit = at % units_a;
      if (BM * units_a % threads == 0 || at < BM * units_a) {
        const bool there = static_cast<int>(r) < n - row && static_cast<int>(8 * unit) < k - depth;
        copy_async(to + 16 * place<units_a, pitch_a>(r, unit),
                   there ? from_a + static_cast<size_t>(r) * k + 8 * unit : a, there);
      }
    }
#pragma unroll
    for (uint32_t i = 0; i < (BK * units_b + threads - 1) / threads; ++i) {
      const uint32_t at = thread + i * threads;
      const uint32_t r = at / units_b;
      const uint32_t unit = at % units_b;
      if (BK * units_b % threads == 0 || at < BK * units_b) {
        const bool there = static_cast<int>(r) < k - depth && static_cast<int>(8 * unit) < m - column;
        copy_async(to + 16 * (BM * pitch_a + place<units_b, pitch_b>(r, unit)),
                   there ? from_b + static_cast<size_t>(r) * m + 8 * unit : b, there);
      }
    }
  };
  const auto commit = [] { asm volatile("cp.async.commit_group;" ::: "memory"); };

  const auto load_fragments = [&](Fragments& to, uint32_t stage, uint32_t depth) {
#pragma unroll
    for (int i = 0; i < row_blocks; ++i) {
      load_a(to.a[i],
             stage + 16 * place<units_a, pitch_a>(warp_row + 16 * i + lane % 16, depth / 8 + lane / 16));
    }
#pragma unroll
    for (int j = 0; j < column_blocks; ++j) {
      load_b(to.b[j],
             stage + 16 * (BM * pitch_a + place<units_b, pitch_b>(depth + lane % 16,
                                                                  (warp_column + 16 * j) / 8 + lane / 16)));
    }
  };

  float sums[row_blocks][2 * column_blocks][4] = {};
  const auto multiply_fragments = [&](const Fragments& from) {
#pragma unroll
    for (int i = 0; i < row_blocks; ++i) {
#pragma unroll
      for (int turn = 0; turn < 2 * column_blocks; ++turn) {
        // Back and forth, so that neighbours in time share an operand.
        const int j = SERPENTINE && i % 2 == 1 ? 2 * column_blocks - 1 - turn : turn;
        multiply(sums[i][j], from.a[i], from.b[j / 2][j % 2 * 2], from.b[j / 2][j % 2 * 2 + 1]);
      }
    }
  };

#pragma unroll
  for (int i = 0; i < STAGES - 1; ++i) {
    if (i < steps) load_stage(i);
    commit();
  }
  const auto next_stage_there = [] {
    asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2) : "memory");
    __syncthreads();
  };
  const auto stage_address = [&](int step) { return base + step % STAGES * (16 * stage_units); };
  Fragments fragments[FRAGMENT_BUFFERS];
  if (ACROSS_STAGES) {
    // The last multiplications of a stage run while the first operands of the next one are on their way.
    next_stage_there();
    load_fragments(fragments[0], stage_address(0), 0);
    for (int step = 0; step < steps; ++step) {
#pragma unroll
      for (int depth = 0; depth < BK; depth += 16) {
        // Into the stage of the step before: every warp had its last operands before the barrier in that
        // step.
        if (depth == 0) {
          if (step + STAGES - 1 < steps) load_stage(step + STAGES - 1);
          commit();
        }
        Fragments& next = fragments[(depth / 16 + 1) % FRAGMENT_BUFFERS];
        if (depth + 16 < BK) {
          load_fragments(next, stage_address(step), depth + 16);
        } else {
          next_stage_there();
          load_fragments(next, stage_address(step + 1), 0);
        }
        multiply_fragments(fragments[depth / 16 % FRAGMENT_BUFFERS]);
      }
    }
  } else {
    for (int step = 0; step < steps; ++step) {
      next_stage_there();
      if (step + STAGES - 1 < steps) load_stage(step + STAGES - 1);
      commit();
      if (FRAGMENT_BUFFERS == 2) load_fragments(fragments[0], stage_address(step), 0);
#pragma unroll
      for (int depth = 0; depth < BK; depth += 16) {
        if (FRAGMENT_BUFFERS == 1) load_fragments(fragments[0], stage_address(step), depth);
        if (FRAGMENT_BUFFERS == 2 && depth + 16 < BK) {
          load_fragments(fragments[(depth / 16 + 1) % FRAGMENT_BUFFERS], stage_address(step), depth + 16);
        }
        multiply_fragments(fragments[depth / 16 % FRAGMENT_BUFFERS]);
      }
    }
  }

  if (SPLIT_K > 1) {
    float* to = partial + static_cast<size_t>(blockIdx.y) * n * m;
#pragma unroll
    for (int i = 0; i < row_blocks; ++i) {
#pragma unroll
      for (int j = 0; j < 2 * column_blocks; ++j) {
        const int y = row + static_cast<int>(warp_row + 16 * i + lane / 4);
        const int x = column + static_cast<int>(warp_column + 8 * j + lane % 4 * 2);
        if (x < m) {
          const float* s = sums[i][j];
          float* at = to + static_cast<size_t>(y) * m + x;
          if (y < n) *reinterpret_cast<float2*>(at) = make_float2(s[0], s[1]);
          if (y + 8 < n)
            *reinterpret_cast<float2*>(at + 8 * static_cast<size_t>(m)) = make_float2(s[2], s[3]);
        }
      }
    }
  } else if (SHARED_STORE) {
    // Through shared memory, so that rows go out 16 bytes a thread.
    asm volatile("cp.async.wait_group 0;" ::: "memory");
    __syncthreads();
    __half2* tile_c = reinterpret_cast<__half2*>(shared);
#pragma unroll
    for (int i = 0; i < row_blocks; ++i) {
#pragma unroll
      for (int j = 0; j < 2 * column_blocks; ++j) {
        const uint32_t y = warp_row + 16 * i + lane / 4;
        const uint32_t x = warp_column / 2 + 4 * j + lane % 4;
        const float* s = sums[i][j];
        tile_c[y * (4 * pitch_c) + x] = __floats2half2_rn(s[0], s[1]);
        tile_c[(y + 8) * (4 * pitch_c) + x] = __floats2half2_rn(s[2], s[3]);
      }
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < (BM * units_b + threads - 1) / threads; ++i) {
      const int at = static_cast<int>(thread) + i * threads;
      const int y = at / units_b;
      const int unit = at % units_b;
      if (y < BM && row + y < n && column + 8 * unit < m) {
        *reinterpret_cast<uint4*>(c + static_cast<size_t>(row + y) * m + column + 8 * unit) =
            shared[y * pitch_c + unit];
      }
    }
  } else {
#pragma unroll
    for (int i = 0; i < row_blocks; ++i) {
#pragma unroll
      for (int j = 0; j < 2 * column_blocks; ++j) {
        const int y = row + static_cast<int>(warp_row + 16 * i + lane / 4);
        const int x = column + static_cast<int>(warp_column + 8 * j + lane % 4 * 2);
        if (x < m) {
          const float* s = sums[i][j];
          __half* at = c + static_cast<size_t>(y) * m + x;
          if (y < n) *reinterpret_cast<__half2*>(at) = __floats2half2_rn(s[0], s[1]);
          if (y + 8 < n)
            *reinterpret_cast<__half2*>(at + 8 * static_cast<size_t>(m)) = __floats2half2_rn(s[2], s[3]);
        }
      }
    }
  }
}

extern "C" __global__ void __launch_bounds__(256)
    reduce_partials(int n, int m, __half* __restrict__ c, const float* __restrict__ partial) {
  const size_t size = static_cast<size_t>(n) * m;
  const size_t at = 4 * (blockIdx.x * static_cast<size_t>(256) + threadIdx.x);
  if (at >= size) return;
  float4 sum = *reinterpret_cast<const float4*>(partial + at);
#pragma unroll
  for (int i = 1; i < SPLIT_K; ++i) {
    const float4 next = *reinterpret_cast<const float4*>(partial + i * size + at);
    sum.x += next.x;
    sum.y += next.y;
    sum.z += next.z;
    sum.w += next.w;
  }
  __half2* to = reinterpret_cast<__half2*>(c + at);
  to[0] = __floats2half2_rn(sum.x, sum.y);
  to[1] = __floats2half2_rn(sum.z, sum.w);
}
