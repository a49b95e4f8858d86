// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// C = A B in half precision with sums in single precision, row-major: A is n x k, B is k x m, C is n x m; for
// Hopper (sm_90a). One warpgroup copies tiles of A and B into a ring of stages with the tensor memory
// accelerator, GROUPS_M x GROUPS_N warpgroups multiply them with wgmma; blocks of a cluster share what they
// load; blocks go over tiles in an order that keeps the second-level cache warm. Strides must be multiples of
// 16 bytes, so k and m multiples of 8; everything else may be any size: copies fill with zeros and clip at
// the edges.
//
// ELEMENT_BF16 makes it a kernel for bfloat16.

#ifdef ELEMENT_BF16
#  include <cuda_bf16.h>
using Element = __nv_bfloat16;
#  define WGMMA_TYPES "f32.bf16.bf16"
#else
#  include <cuda_fp16.h>
using Element = __half;
#  define WGMMA_TYPES "f32.f16.f16"
#endif

struct alignas(64) TensorMap {
  unsigned long long opaque[16];
};

namespace {

constexpr int groups = GROUPS_M * GROUPS_N;
constexpr int threads = 128 * (groups + 1);
constexpr int group_rows = BM / GROUPS_M;
constexpr int group_columns = BN / GROUPS_N;
constexpr int row_blocks = group_rows / 64;                   // wgmma instructions one above the other
constexpr int column_blocks = group_columns / WGMMA_COLUMNS;  // and side by side
constexpr int cluster_size = CLUSTER_M * CLUSTER_N;

// A stage: A as panels of `panel_a` columns, each BM rows; B as panels of 64 columns, each BK rows. A panel's
// rows are what the swizzle permutes within, so panels are as wide as it: 128 bytes, or 64 where BK is 32.
constexpr int panel_a = BK < 64 ? BK : 64;
constexpr uint32_t bytes_a = BM * BK * 2;
constexpr uint32_t bytes_b = BN * BK * 2;
constexpr uint32_t stage_bytes = bytes_a + bytes_b;
constexpr int panels_b = BN / 64;
constexpr uint32_t panel_bytes_a = BM * panel_a * 2;
constexpr uint32_t panel_bytes_b = BK * 128;

// What a warpgroup stores at once: 64 x 64 elements.
constexpr uint32_t store_bytes = 64 * 128;
constexpr uint32_t stores_offset = STAGES * stage_bytes;
constexpr uint32_t barriers_offset = stores_offset + (TMA_STORE ? groups * STORE_BUFFERS * store_bytes : 0);

// Registers a thread: the block starts with an equal share for all, then the copying warpgroup gives up what
// the multiplying ones take.
constexpr int even_registers = 65536 / (threads * BLOCKS_PER_SM) / 8 * 8;
constexpr int spare_registers = (even_registers * (groups + 1) - COPY_REGISTERS) / groups / 8 * 8;
constexpr int multiply_registers = spare_registers > 240 ? 240 : spare_registers;
constexpr bool moves_registers = even_registers < 256 && COPY_REGISTERS < even_registers;

static_assert(group_rows % 64 == 0 && group_columns % WGMMA_COLUMNS == 0, "whole instructions");
static_assert(panels_b % CLUSTER_M == 0 && (BM / CLUSTER_N) % 8 == 0,
              "blocks of a cluster load equal shares");

__device__ __forceinline__ uint32_t shared_address(const void* pointer) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(pointer));
}

__device__ __forceinline__ uint32_t cluster_rank() {
  uint32_t rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}

__device__ __forceinline__ void cluster_sync() {
  asm volatile("barrier.cluster.arrive.relaxed;\nbarrier.cluster.wait;" ::: "memory");
}

__device__ __forceinline__ void barrier_init(uint32_t barrier, uint32_t arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}

__device__ __forceinline__ void barrier_expect(uint32_t barrier, uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
               : "memory");
}

__device__ __forceinline__ void barrier_arrive(uint32_t barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}

// Not `.release.cluster`: that waits for all memory at every step (measured on an H200: 560 TFLOP/s instead
// of 770). There is nothing to release: what the stage held was read by wgmma, which is done by then.
__device__ __forceinline__ void barrier_arrive_remote(uint32_t barrier, uint32_t rank) {
  asm volatile(
      "{\n"
      ".reg .b32 remote;\n"
      "mapa.shared::cluster.u32 remote, %0, %1;\n"
      "mbarrier.arrive.shared::cluster.b64 _, [remote];\n"
      "}" ::"r"(barrier),
      "r"(rank)
      : "memory");
}

__device__ __forceinline__ bool barrier_passed(uint32_t barrier, uint32_t parity) {
  uint32_t passed;
  asm volatile(
      "{\n"
      ".reg .pred p;\n"
      "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
      "selp.u32 %0, 1, 0, p;\n"
      "}"
      : "=r"(passed)
      : "r"(barrier), "r"(parity)
      : "memory");
  return passed != 0;
}

__device__ __forceinline__ void barrier_wait(uint32_t barrier, uint32_t parity) {
  while (!barrier_passed(barrier, parity)) {
  }
}

__device__ __forceinline__ void copy_in(uint32_t to, const TensorMap& map, int x, int y, uint32_t barrier) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], "
      "[%4];" ::"r"(to),
      "l"(&map), "r"(x), "r"(y), "r"(barrier)
      : "memory");
}

__device__ __forceinline__ void copy_in_shared(uint32_t to, const TensorMap& map, int x, int y,
                                               uint32_t barrier, uint16_t ranks) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
      "[%0], [%1, {%2, %3}], [%4], %5;" ::"r"(to),
      "l"(&map), "r"(x), "r"(y), "r"(barrier), "h"(ranks)
      : "memory");
}

__device__ __forceinline__ void copy_out(const TensorMap& map, int x, int y, uint32_t from) {
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];" ::"l"(&map),
               "r"(x), "r"(y), "r"(from)
               : "memory");
}

// A descriptor of a matrix in shared memory: address, leading and stride offset in units of 16 bytes, swizzle
// (PTX ISA, "Matrix descriptor format").
__device__ __forceinline__ uint64_t descriptor(uint32_t address, uint32_t leading, uint32_t stride,
                                               uint64_t swizzle) {
  return static_cast<uint64_t>((address & 0x3ffffu) >> 4) | static_cast<uint64_t>(leading >> 4) << 16 |
         static_cast<uint64_t>(stride >> 4) << 32 | swizzle << 62;
}

// Rows of A are contiguous in k: groups of 8 rows are a stride apart.
__device__ __forceinline__ uint64_t descriptor_a(uint32_t address) {
  return descriptor(address, 16, 8 * 2 * panel_a, panel_a == 64 ? 1 : 2);
}

// Rows of B are contiguous in m: panels of 64 columns are the leading offset apart, groups of 8 rows a
// stride.
__device__ __forceinline__ uint64_t descriptor_b(uint32_t address) {
  return descriptor(address, panel_bytes_b, 8 * 128, 1);
}

#define REGISTERS_0                                                        \
  "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, " \
  "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define REGISTERS_1                                                                  \
  "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, " \
  "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define REGISTERS_2                                                                  \
  "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, " \
  "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95"
#define REGISTERS_3                                                                              \
  "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, " \
  "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"

#define OPERANDS_4(d, i) "+f"(d[i]), "+f"(d[(i) + 1]), "+f"(d[(i) + 2]), "+f"(d[(i) + 3])
#define OPERANDS_16(d, i) \
  OPERANDS_4(d, i), OPERANDS_4(d, (i) + 4), OPERANDS_4(d, (i) + 8), OPERANDS_4(d, (i) + 12)
#define OPERANDS_32(d, i) OPERANDS_16(d, i), OPERANDS_16(d, (i) + 16)

// d += A B for 64 rows and n columns, 16 deep; d = A B where `add` is 0. B is transposed (its rows are
// contiguous).
#define WGMMA(n, registers, a_number, b_number, add_number, ...)                                            \
  asm volatile(                                                                                             \
      "{\n"                                                                                                 \
      ".reg .pred p;\n"                                                                                     \
      "setp.ne.b32 p, " add_number                                                                          \
      ", 0;\n"                                                                                              \
      "wgmma.mma_async.sync.aligned.m64n" #n "k16." WGMMA_TYPES " {" registers "}, " a_number ", " b_number \
      ", p, 1, 1, 0, 1;\n"                                                                                  \
      "}"                                                                                                   \
      : __VA_ARGS__                                                                                         \
      : "l"(a), "l"(b), "r"(add))

__device__ __forceinline__ void multiply(float (&d)[32], uint64_t a, uint64_t b, int add) {
  WGMMA(64, REGISTERS_0, "%32", "%33", "%34", OPERANDS_32(d, 0));
}

__device__ __forceinline__ void multiply(float (&d)[64], uint64_t a, uint64_t b, int add) {
  WGMMA(128, REGISTERS_0 ", " REGISTERS_1, "%64", "%65", "%66", OPERANDS_32(d, 0), OPERANDS_32(d, 32));
}

__device__ __forceinline__ void multiply(float (&d)[96], uint64_t a, uint64_t b, int add) {
  WGMMA(192, REGISTERS_0 ", " REGISTERS_1 ", " REGISTERS_2, "%96", "%97", "%98", OPERANDS_32(d, 0),
        OPERANDS_32(d, 32), OPERANDS_32(d, 64));
}

__device__ __forceinline__ void multiply(float (&d)[128], uint64_t a, uint64_t b, int add) {
  WGMMA(256, REGISTERS_0 ", " REGISTERS_1 ", " REGISTERS_2 ", " REGISTERS_3, "%128", "%129", "%130",
        OPERANDS_32(d, 0), OPERANDS_32(d, 32), OPERANDS_32(d, 64), OPERANDS_32(d, 96));
}

__device__ __forceinline__ void wgmma_fence() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
__device__ __forceinline__ void wgmma_commit() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
template <int pending>
__device__ __forceinline__ void wgmma_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(pending) : "memory");
}

__device__ __forceinline__ uint32_t pack(float low, float high) {
#ifdef ELEMENT_BF16
  const __nv_bfloat162 pair = __floats2bfloat162_rn(low, high);
#else
  const __half2 pair = __floats2half2_rn(low, high);
#endif
  return *reinterpret_cast<const uint32_t*>(&pair);
}

__device__ __forceinline__ void group_sync(int group) {
  asm volatile("bar.sync %0, 128;" ::"r"(group + 1) : "memory");
}

// The place of the i-th tile: strips of STRIP tiles, so that tiles worked on together share rows and columns.
__device__ __forceinline__ void tile_place(int i, int rows, int columns, int& row, int& column) {
  const int wide = COLUMN_STRIPS ? columns : rows;
  const int long_side = COLUMN_STRIPS ? rows : columns;
  const int strip = i / (STRIP * long_side);
  const int inside = i - strip * (STRIP * long_side);
  const int width = min(STRIP, wide - strip * STRIP);
  const int across = strip * STRIP + inside % width;
  const int along = inside / width;
  row = COLUMN_STRIPS ? along : across;
  column = COLUMN_STRIPS ? across : along;
}

}  // namespace

extern "C" __global__ void __launch_bounds__(threads, BLOCKS_PER_SM)
    matmul(int n, int m, int k, const Element*, const Element*, Element* __restrict__ c,
           const __grid_constant__ TensorMap map_a, const __grid_constant__ TensorMap map_b,
           const __grid_constant__ TensorMap map_c) {
  extern __shared__ __align__(1024) unsigned char shared[];
  const uint32_t base = shared_address(shared);
  const uint32_t full = base + barriers_offset;  // one barrier a stage: its data are there
  const uint32_t empty = full + 8 * STAGES;      // one barrier a stage: nobody reads it any more

  // Told to be the same in all lanes, so that addresses stay in uniform registers. Group 0 copies.
  const int group = __shfl_sync(0xffffffffu, static_cast<int>(threadIdx.x) / 128, 0);
  const uint32_t rank = cluster_size > 1 ? cluster_rank() : 0;
  const int cluster_row = static_cast<int>(rank) % CLUSTER_M;
  const int cluster_column = static_cast<int>(rank) / CLUSTER_M;

  if (threadIdx.x == 0) {
    for (int i = 0; i < STAGES; ++i) {
      barrier_init(full + 8 * i, 1);
      barrier_init(empty + 8 * i, groups * (CLUSTER_M + CLUSTER_N - 1));
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  }
  if (cluster_size > 1) {
    cluster_sync();
  } else {
    __syncthreads();
  }

  const int tiles_m = (n + BM * CLUSTER_M - 1) / (BM * CLUSTER_M);
  const int tiles_n = (m + BN * CLUSTER_N - 1) / (BN * CLUSTER_N);
  const int tiles = tiles_m * tiles_n;
  const int steps = (k + BK - 1) / BK;
  const int first = static_cast<int>(blockIdx.x) / cluster_size;
  const int clusters = static_cast<int>(gridDim.x) / cluster_size;

  if (group == 0) {
    if (moves_registers) asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(COPY_REGISTERS));
    if (threadIdx.x == 0) {
      asm volatile("prefetch.tensormap [%0];" ::"l"(&map_a) : "memory");
      asm volatile("prefetch.tensormap [%0];" ::"l"(&map_b) : "memory");
      if (TMA_STORE) asm volatile("prefetch.tensormap [%0];" ::"l"(&map_c) : "memory");
      uint16_t row_ranks = 0;     // the blocks that need the same rows of A
      uint16_t column_ranks = 0;  // and the same columns of B
      for (int i = 0; i < CLUSTER_N; ++i) row_ranks |= 1 << (cluster_row + CLUSTER_M * i);
      for (int i = 0; i < CLUSTER_M; ++i) column_ranks |= 1 << (i + CLUSTER_M * cluster_column);
      int stage = 0;
      uint32_t parity = 0;
      for (int tile = first; tile < tiles; tile += clusters) {
        int row, column;
        tile_place(tile, tiles_m, tiles_n, row, column);
        row = (row * CLUSTER_M + cluster_row) * BM;
        column = (column * CLUSTER_N + cluster_column) * BN;
        for (int step = 0; step < steps; ++step) {
          const uint32_t barrier = full + 8 * stage;
          const uint32_t to_a = base + stage * stage_bytes;
          const uint32_t to_b = to_a + bytes_a;
          barrier_wait(empty + 8 * stage, parity ^ 1);
          barrier_expect(barrier, stage_bytes);
#pragma unroll
          for (int panel = 0; panel < BK / panel_a; ++panel) {
            const int share = cluster_column * (BM / CLUSTER_N);
            const uint32_t to = to_a + panel * panel_bytes_a + share * (2 * panel_a);
            const int x = step * BK + panel * panel_a;
            if (CLUSTER_N > 1) {
              copy_in_shared(to, map_a, x, row + share, barrier, row_ranks);
            } else {
              copy_in(to, map_a, x, row, barrier);
            }
          }
#pragma unroll
          for (int i = 0; i < panels_b / CLUSTER_M; ++i) {
            const int panel = cluster_row * (panels_b / CLUSTER_M) + i;
            const uint32_t to = to_b + panel * panel_bytes_b;
            const int x = column + panel * 64;
            if (CLUSTER_M > 1) {
              copy_in_shared(to, map_b, x, step * BK, barrier, column_ranks);
            } else {
              copy_in(to, map_b, x, step * BK, barrier);
            }
          }
          if (++stage == STAGES) {
            stage = 0;
            parity ^= 1;
          }
        }
      }
      // The block may not leave before the others of its cluster have arrived at its barriers for the last
      // time.
      for (int i = 0; cluster_size > 1 && i < STAGES; ++i) {
        barrier_wait(empty + 8 * stage, parity ^ 1);
        if (++stage == STAGES) {
          stage = 0;
          parity ^= 1;
        }
      }
    }
  } else {
    if (moves_registers) asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(multiply_registers));
    const int worker = group - 1;
    const int group_row = worker / GROUPS_N * group_rows;
    const int group_column = worker % GROUPS_N * group_columns;
    const int thread = static_cast<int>(threadIdx.x) % 128;
    const int warp = thread / 32;
    const int lane = thread % 32;
    const uint32_t stores = base + stores_offset + worker * (STORE_BUFFERS * store_bytes);
    int buffer = 0;

    // Who must know that a stage is free: the blocks that copy into it, this one first.
    uint32_t free_rank = rank;
    if (thread > 0 && thread < CLUSTER_M)
      free_rank = (cluster_row + thread) % CLUSTER_M + CLUSTER_M * cluster_column;
    if (thread >= CLUSTER_M && thread < CLUSTER_M + CLUSTER_N - 1) {
      free_rank = cluster_row + CLUSTER_M * ((cluster_column + thread - CLUSTER_M + 1) % CLUSTER_N);
    }
    const auto release = [&](int stage) {
      if (cluster_size > 1) {
        if (thread < CLUSTER_M + CLUSTER_N - 1) barrier_arrive_remote(empty + 8 * stage, free_rank);
      } else if (thread == 0) {
        barrier_arrive(empty + 8 * stage);
      }
    };

    float sums[row_blocks][column_blocks][WGMMA_COLUMNS / 2];
    int stage = 0;
    uint32_t parity = 0;
    for (int tile = first; tile < tiles; tile += clusters) {
      int row, column;
      tile_place(tile, tiles_m, tiles_n, row, column);
      row = (row * CLUSTER_M + cluster_row) * BM + group_row;
      column = (column * CLUSTER_N + cluster_column) * BN + group_column;

      int previous = 0;
      for (int step = 0; step < steps; ++step) {
        const uint32_t from_a = base + stage * stage_bytes + group_row * (2 * panel_a);
        const uint32_t from_b = base + stage * stage_bytes + bytes_a + group_column / 64 * panel_bytes_b;
        barrier_wait(full + 8 * stage, parity);
        wgmma_fence();
#pragma unroll
        for (int depth = 0; depth < BK; depth += 16) {
#pragma unroll
          for (int i = 0; i < row_blocks; ++i) {
            const uint64_t a = descriptor_a(from_a + depth / panel_a * panel_bytes_a +
                                            i * (64 * 2 * panel_a) + depth % panel_a * 2);
#pragma unroll
            for (int j = 0; j < column_blocks; ++j) {
              const uint64_t b =
                  descriptor_b(from_b + depth * 128 + j * (WGMMA_COLUMNS / 64 * panel_bytes_b));
              multiply(sums[i][j], a, b, depth > 0 || step > 0);
            }
          }
        }
        wgmma_commit();
        if (KEEP_RUNNING) {
          wgmma_wait<1>();
          if (step > 0) release(previous);
          previous = stage;
        } else {
          wgmma_wait<0>();
          release(stage);
        }
        if (++stage == STAGES) {
          stage = 0;
          parity ^= 1;
        }
      }
      if (KEEP_RUNNING) {
        wgmma_wait<0>();
        release(previous);
      }

      if (TMA_STORE) {
        // 64 x 64 elements at a time through shared memory, permuted as the map's swizzle of 128 bytes wants
        // it.
        const int matrix = lane / 8;
        const int store_row = warp * 16 + matrix % 2 * 8 + lane % 8;
#pragma unroll
        for (int i = 0; i < row_blocks; ++i) {
#pragma unroll
          for (int panel = 0; panel < group_columns / 64; ++panel) {
            const uint32_t to = stores + buffer * store_bytes;
            if (thread == 0) {
              asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(STORE_BUFFERS - 1) : "memory");
            }
            group_sync(worker);
#pragma unroll
            for (int unit = 0; unit < 8; unit += 2) {
              const float* s =
                  sums[i][panel * 64 / WGMMA_COLUMNS] + panel * 64 % WGMMA_COLUMNS / 2 + unit * 4;
              const uint32_t address = to + store_row * 128 + (((unit + matrix / 2) ^ (store_row % 8)) << 4);
              asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(address),
                           "r"(pack(s[0], s[1])), "r"(pack(s[2], s[3])), "r"(pack(s[4], s[5])),
                           "r"(pack(s[6], s[7]))
                           : "memory");
            }
            asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
            group_sync(worker);
            if (thread == 0) {
              copy_out(map_c, column + panel * 64, row + i * 64, to);
              asm volatile("cp.async.bulk.commit_group;" ::: "memory");
            }
            buffer = buffer + 1 == STORE_BUFFERS ? 0 : buffer + 1;
          }
        }
      } else {
#pragma unroll
        for (int i = 0; i < row_blocks; ++i) {
          const int y = row + i * 64 + warp * 16 + lane / 4;
#pragma unroll
          for (int j = 0; j < group_columns; j += 8) {
            const int x = column + j + lane % 4 * 2;
            const float* s = sums[i][j / WGMMA_COLUMNS] + j % WGMMA_COLUMNS / 2;
            if (x < m) {
              const size_t at = static_cast<size_t>(y) * m + x;
              if (y < n) *reinterpret_cast<uint32_t*>(c + at) = pack(s[0], s[1]);
              if (y + 8 < n)
                *reinterpret_cast<uint32_t*>(c + at + 8 * static_cast<size_t>(m)) = pack(s[2], s[3]);
            }
          }
        }
      }
    }
    if (TMA_STORE && thread == 0) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
  }
}
