// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// C = A B' of E4M3 floats with scales by block: A is m x k with a scale for each 128 of a row, B is n x k
// with one for each 128 x 128. Blocks of 128 columns of A and B go through a ring of STAGES in shared
// memory by asynchronous copies. Each warp multiplies them with mma.m16n8k32 into sums of their own, which
// are then scaled and added to the tile's: that is what the scales ask for, and it keeps the tensor cores'
// sums, which have fewer bits than a float, short.
#include <cuda_bf16.h>

namespace {

constexpr int depth = 128;                // of a block of k, in elements and bytes
constexpr int pitch = depth + 16;         // of a row in shared memory: the reads of a warp hit different banks
constexpr int threads = 32 * WARPS_M * WARPS_N;
constexpr int rows = BM / WARPS_M / 16;   // of a warp, in instructions
constexpr int columns = BN / WARPS_N / 8;
constexpr int stage_bytes = (BM + BN) * pitch;

static_assert(BM % (16 * WARPS_M) == 0 && BN % (8 * WARPS_N) == 0, "whole instructions");
static_assert(128 % BN == 0, "one scale of B for a tile");

__device__ __forceinline__ uint32_t shared_address(const void* at) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(at));
}

// 16 bytes, or zeros if `there` is false.
__device__ __forceinline__ void copy(uint8_t* to, const uint8_t* from, bool there) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(to)), "l"(from),
               "r"(there ? 16 : 0)
               : "memory");
}

__device__ __forceinline__ void fetch(uint8_t* stage, int m, int n, int k, int start, const uint8_t* a,
                                      const uint8_t* b) {
  constexpr int pieces = depth / 16;
  for (int i = threadIdx.x; i < (BM + BN) * pieces; i += threads) {
    const int line = i / pieces, at = i % pieces * 16;
    const bool of_a = line < BM;
    const int row = of_a ? blockIdx.y * BM + line : blockIdx.x * BN + line - BM;
    const bool there = row < (of_a ? m : n);
    const uint8_t* const from = (of_a ? a : b) + (there ? static_cast<size_t>(row) * k + start + at : 0);
    copy(stage + line * pitch + at, from, there);
  }
}

__device__ __forceinline__ void multiply(float (&sum)[4], const uint32_t (&a)[4], const uint32_t (&b)[2]) {
  asm volatile(
      "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

__device__ __forceinline__ uint32_t word(const uint8_t* at) {
  return *reinterpret_cast<const uint32_t*>(at);
}

}  // namespace

extern "C" __global__ void __launch_bounds__(threads)
    matmul(int m, int n, int k, const uint8_t* a, const float* a_scale, const uint8_t* b, const float* b_scale,
           __nv_bfloat16* c) {
  extern __shared__ __align__(16) uint8_t ring[];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int group = lane / 4, place = lane % 4;
  const int warp_row = warp / WARPS_N * (16 * rows), warp_column = warp % WARPS_N * (8 * columns);
  const int blocks = k / depth;
  float sums[rows][columns][4] = {};
  for (int s = 0; s < STAGES - 1; ++s) {
    if (s < blocks) fetch(ring + s * stage_bytes, m, n, k, s * depth, a, b);
    asm volatile("cp.async.commit_group;" ::: "memory");
  }
  for (int block = 0; block < blocks; ++block) {
    asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2) : "memory");
    __syncthreads();
    const int next = block + STAGES - 1;
    if (next < blocks) fetch(ring + next % STAGES * stage_bytes, m, n, k, next * depth, a, b);
    asm volatile("cp.async.commit_group;" ::: "memory");
    const uint8_t* const tile_a = ring + block % STAGES * stage_bytes + (warp_row + group) * pitch + 4 * place;
    const uint8_t* const tile_b =
        ring + block % STAGES * stage_bytes + (BM + warp_column + group) * pitch + 4 * place;
    float parts[rows][columns][4] = {};
#pragma unroll
    for (int start = 0; start < depth; start += 32) {
      uint32_t of_b[columns][2];
#pragma unroll
      for (int s = 0; s < columns; ++s)
        for (int half = 0; half < 2; ++half) of_b[s][half] = word(tile_b + 8 * s * pitch + start + 16 * half);
#pragma unroll
      for (int r = 0; r < rows; ++r) {
        uint32_t of_a[4];
        for (int i = 0; i < 4; ++i) of_a[i] = word(tile_a + (16 * r + i % 2 * 8) * pitch + start + i / 2 * 16);
#pragma unroll
        for (int s = 0; s < columns; ++s) multiply(parts[r][s], of_a, of_b[s]);
      }
    }
    const float scale_b = b_scale[static_cast<size_t>(blockIdx.x * BN / 128) * blocks + block];
#pragma unroll
    for (int r = 0; r < rows; ++r)
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int row = blockIdx.y * BM + warp_row + 16 * r + group + 8 * half;
        const float scale = row < m ? a_scale[static_cast<size_t>(row) * blocks + block] * scale_b : 0.0f;
#pragma unroll
        for (int s = 0; s < columns; ++s)
          for (int i = 0; i < 2; ++i) sums[r][s][2 * half + i] += scale * parts[r][s][2 * half + i];
      }
  }
#pragma unroll
  for (int r = 0; r < rows; ++r)
    for (int s = 0; s < columns; ++s)
      for (int i = 0; i < 4; ++i) {
        const int row = blockIdx.y * BM + warp_row + 16 * r + group + i / 2 * 8;
        const int column = blockIdx.x * BN + warp_column + 8 * s + 2 * place + i % 2;
        if (row < m && column < n) c[static_cast<size_t>(row) * n + column] = __float2bfloat16(sums[r][s][i]);
      }
}
