// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Prices of European options by Black and Scholes. A thread takes WORK vectors of VECTOR options.

struct alignas(4 * VECTOR) Pack {
  float v[VECTOR];
};

/// The normal distribution's cumulative function.
__device__ __forceinline__ float cumulative(float d) {
#if METHOD == 0
  return 0.5f * erfcf(-0.70710678f * d);
#else
  // Abramowitz and Stegun, 26.2.17
  const float k = 1.0f / (1.0f + 0.2316419f * fabsf(d));
#  if FAST
  const float density = 0.39894228f * __expf(-0.5f * d * d);
#  else
  const float density = 0.39894228f * expf(-0.5f * d * d);
#  endif
  const float tail =
      density *
      (k * (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f)))));
  return d > 0 ? 1.0f - tail : tail;
#endif
}

__device__ __forceinline__ void price(float spot, float strike, float years, float& call, float& put) {
  const float rate = 0.02f, volatility = 0.3f;
#if FAST
  const float root = __fsqrt_rn(years), growth = __logf(spot / strike), discount = __expf(-rate * years);
#else
  const float root = sqrtf(years), growth = logf(spot / strike), discount = expf(-rate * years);
#endif
  const float d1 = (growth + (rate + 0.5f * volatility * volatility) * years) / (volatility * root);
  const float d2 = d1 - volatility * root;
  const float c1 = cumulative(d1), c2 = cumulative(d2);
  call = spot * c1 - strike * discount * c2;
  put = strike * discount * (1.0f - c2) - spot * (1.0f - c1);
}

__device__ __forceinline__ void keep(float* to, const Pack& pack) {
#pragma unroll
  for (int v = 0; v < VECTOR; ++v) {
#if defined(__CUDA_ARCH__) && STREAM && VECTOR == 1
    __stcs(to + v, pack.v[v]);
#endif
  }
#if defined(__CUDA_ARCH__) && STREAM && VECTOR == 2
  __stcs(reinterpret_cast<float2*>(to), make_float2(pack.v[0], pack.v[1]));
#elif defined(__CUDA_ARCH__) && STREAM && VECTOR == 4
  __stcs(reinterpret_cast<float4*>(to), make_float4(pack.v[0], pack.v[1], pack.v[2], pack.v[3]));
#elif !defined(__CUDA_ARCH__) || !STREAM
  *reinterpret_cast<Pack*>(to) = pack;
#endif
}

extern "C" __global__ void __launch_bounds__(THREADS)
    black_scholes(int32_t n, const float* __restrict__ spot, const float* __restrict__ strike,
                  const float* __restrict__ years, float* __restrict__ call, float* __restrict__ put) {
  const int t = static_cast<int>(threadIdx.x), first = static_cast<int>(blockIdx.x) * THREADS * WORK;
  constexpr int turns = UNROLL;
#pragma unroll turns
  for (int w = 0; w < WORK; ++w) {
    const int i = (ORDER == 0 ? first + w * THREADS + t : first + t * WORK + w) * VECTOR;
    if (i >= n) continue;
    const Pack s = *reinterpret_cast<const Pack*>(spot + i), k = *reinterpret_cast<const Pack*>(strike + i),
               y = *reinterpret_cast<const Pack*>(years + i);
    Pack c, p;
#pragma unroll
    for (int v = 0; v < VECTOR; ++v) price(s.v[v], k.v[v], y.v[v], c.v[v], p.v[v]);
    keep(call + i, c);
    keep(put + i, p);
  }
}
