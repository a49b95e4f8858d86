// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// y = W x with W in four bits and a scale for each 128 elements of a row. A warp sums ROWS rows: each lane
// reads 16 bytes, 32 elements that lie in one block, multiplies them with its part of x in single
// precision, and scales the sum once. AHEAD of these loads are on their way at a time.
#include <cuda_fp16.h>

#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)

namespace {

constexpr int step = 32 * 32;  // elements of a row that a warp takes at once

struct Packed {
  uint32_t word[4];
};

__device__ __forceinline__ Packed load(const uint8_t* at) {
  Packed one;
  asm volatile("ld.global" TEXT(LOAD) ".v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(one.word[0]), "=r"(one.word[1]), "=r"(one.word[2]), "=r"(one.word[3])
               : "l"(at));
  return one;
}

// The sum of 32 products.
__device__ __forceinline__ float multiply(const Packed& packed, const __half2* x) {
  float even = 0, odd = 0;
#pragma unroll
  for (int w = 0; w < 4; ++w) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      // To the top of a word and down again, which spreads the sign.
      const int low = static_cast<int>(packed.word[w] << (28 - 8 * i)) >> 28;
      const int high = static_cast<int>(packed.word[w] << (24 - 8 * i)) >> 28;
      const float2 both = __half22float2(x[4 * w + i]);
      even += static_cast<float>(low) * both.x;
      odd += static_cast<float>(high) * both.y;
    }
  }
  return even + odd;
}

}  // namespace

extern "C" __global__ void __launch_bounds__(32 * WARPS)
    matvec(int n, int k, const uint8_t* weights, const __half* scales, const __half* x, __half* y) {
  const int lane = threadIdx.x % 32;
  const int first = (blockIdx.x * WARPS + threadIdx.x / 32) * ROWS;
  if (first >= n) return;
  float sums[ROWS] = {};
  for (int start = 32 * lane; start < k; start += step * AHEAD) {
    Packed packed[AHEAD][ROWS];
#pragma unroll
    for (int s = 0; s < AHEAD; ++s)
#pragma unroll
      for (int r = 0; r < ROWS; ++r) {
        const int at = start + s * step, row = first + r < n ? first + r : first;
        if (at < k) packed[s][r] = load(weights + (static_cast<size_t>(row) * k + at) / 2);
      }
#pragma unroll
    for (int s = 0; s < AHEAD; ++s) {
      const int at = start + s * step;
      if (at >= k) break;
      __half2 part[16];
#pragma unroll
      for (int i = 0; i < 4; ++i)
        reinterpret_cast<uint4*>(part)[i] = reinterpret_cast<const uint4*>(x + at)[i];
#pragma unroll
      for (int r = 0; r < ROWS; ++r) {
        const int row = first + r < n ? first + r : first;
        const float scale = __half2float(scales[(static_cast<size_t>(row) * k + at) / 128]);
        sums[r] += scale * multiply(packed[s][r], part);
      }
    }
  }
#pragma unroll
  for (int r = 0; r < ROWS; ++r) {
    for (int apart = 16; apart > 0; apart /= 2) sums[r] += __shfl_xor_sync(0xffffffffu, sums[r], apart);
    if (lane == 0 && first + r < n) y[first + r] = __float2half(sums[r]);
  }
}
