// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Accelerations of n bodies that pull at each other, softened. A block takes THREADS * WORK bodies and goes
// over all others, by tiles of THREADS * TILE in shared memory or straight from global memory, where all
// threads read one word.

struct Sum {
  float x, y, z;
};

__device__ __forceinline__ void pull(Sum& sum, float dx, float dy, float dz, float mass) {
  const float squared = dx * dx + dy * dy + dz * dz + 0.01f;
#if RECIPROCAL == 0
  const float inverse = 1.0f / sqrtf(squared);
#else
  const float inverse = rsqrtf(squared);
#endif
  const float strength = mass * inverse * inverse * inverse;
  sum.x += dx * strength;
  sum.y += dy * strength;
  sum.z += dz * strength;
}

extern "C" __global__ void __launch_bounds__(THREADS)
    nbody(int32_t n, const float* __restrict__ x, const float* __restrict__ y, const float* __restrict__ z,
          const float* __restrict__ mass, float* __restrict__ ax, float* __restrict__ ay,
          float* __restrict__ az) {
  const int t = static_cast<int>(threadIdx.x), first = static_cast<int>(blockIdx.x) * THREADS * WORK + t;
  float px[WORK], py[WORK], pz[WORK];
  Sum sum[WORK];
#pragma unroll
  for (int w = 0; w < WORK; ++w) {
    const int i = min(first + w * THREADS, n - 1);
    px[w] = x[i], py[w] = y[i], pz[w] = z[i];
    sum[w] = {0, 0, 0};
  }
  constexpr int turns = UNROLL;
#if SHARED
  constexpr int tile = THREADS * TILE;
#  if LAYOUT == 0
  __shared__ float4 body[tile];
#  else
  __shared__ float bx[tile], by[tile], bz[tile], bm[tile];
#  endif
  for (int base = 0; base < n; base += tile) {
    __syncthreads();
    for (int j = t; j < tile; j += THREADS) {
      const int i = min(base + j, n - 1);
      const float m = base + j < n ? mass[i] : 0.0f;
#  if LAYOUT == 0
      body[j] = make_float4(x[i], y[i], z[i], m);
#  else
      bx[j] = x[i], by[j] = y[i], bz[j] = z[i], bm[j] = m;
#  endif
    }
    __syncthreads();
#  pragma unroll turns
    for (int j = 0; j < tile; ++j) {
#  if LAYOUT == 0
      const float4 other = body[j];
#  else
      const float4 other = make_float4(bx[j], by[j], bz[j], bm[j]);
#  endif
#  pragma unroll
      for (int w = 0; w < WORK; ++w) pull(sum[w], other.x - px[w], other.y - py[w], other.z - pz[w], other.w);
    }
  }
#else
#  pragma unroll turns
  for (int j = 0; j < n; ++j) {
    const float ox = x[j], oy = y[j], oz = z[j], om = mass[j];
#  pragma unroll
    for (int w = 0; w < WORK; ++w) pull(sum[w], ox - px[w], oy - py[w], oz - pz[w], om);
  }
#endif
#pragma unroll
  for (int w = 0; w < WORK; ++w) {
    const int i = first + w * THREADS;
    if (i < n) ax[i] = sum[w].x, ay[i] = sum[w].y, az[i] = sum[w].z;
  }
}
