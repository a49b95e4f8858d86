// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The sums of segments of very uneven lengths. LANES threads share a segment, a thread keeps CHAINS sums
// and takes SEGMENTS segments, neighbours or a block apart.

template <class T>
__device__ __forceinline__ T once(const T* p) {
#ifdef __CUDA_ARCH__
  if constexpr (STREAM) return __ldcs(p);
#endif
  return *p;
}

extern "C" __global__ void __launch_bounds__(THREADS)
    segment_sums(int32_t count, int32_t entries, const int32_t* __restrict__ start,
                 const float* __restrict__ value, float* __restrict__ result) {
  constexpr int side = THREADS / LANES;
  const int lane = static_cast<int>(threadIdx.x) % LANES, group = static_cast<int>(threadIdx.x) / LANES;
  const int first = static_cast<int>(blockIdx.x) * side * SEGMENTS;
  constexpr int turns = UNROLL;
#pragma unroll 1
  for (int s = 0; s < SEGMENTS; ++s) {
    const int segment = ORDER == 0 ? first + s * side + group : first + group * SEGMENTS + s;
    const int begin = segment < count ? start[segment] : 0, end = segment < count ? start[segment + 1] : 0;
    float sum[CHAINS] = {};
    int i = begin + lane;
#pragma unroll turns
    for (; i + (CHAINS - 1) * LANES < end; i += CHAINS * LANES)
#pragma unroll
      for (int c = 0; c < CHAINS; ++c) sum[c] += once(value + i + c * LANES);
    for (; i < end; i += LANES) sum[0] += once(value + i);
    float all = sum[0];
#pragma unroll
    for (int c = 1; c < CHAINS; ++c) all += sum[c];
#pragma unroll
    for (int mask = LANES / 2; mask > 0; mask /= 2) all += __shfl_xor_sync(0xffffffffu, all, mask);
    if (lane == 0 && segment < count) result[segment] = all;
  }
}
