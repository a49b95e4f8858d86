// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Softmax of rows of 4096, 256 threads a row. merit.json says which method each macro is; the writer sets them.
#ifndef ONLINE
#  define ONLINE 0      // maximum and sum in one pass, the sum corrected where the maximum grows
#  define VECTOR 0      // four floats an access
#  define SHUFFLE 0     // reductions by shuffles, two barriers instead of eight
#  define FAST_EXP 0    // the special function unit's exponential, without expf's range reduction
#  define READ_ONLY 0   // loads through the read-only path
#  define UNROLL 1      // steps of a pass at once
#  define MIN_BLOCKS 1  // for which registers are to suffice
#endif

#if READ_ONLY
#  define LOAD(address) __ldg(address)
#else
#  define LOAD(address) (*(address))
#endif

constexpr int unrolled = UNROLL;

__device__ __forceinline__ float power(float x) {
#if FAST_EXP
  return __expf(x);
#else
  return expf(x);
#endif
}

// The thread's sixteen elements of the row, with their numbers.
template <class Use>
__device__ __forceinline__ void each(const float* from, Use use) {
#if VECTOR
#  pragma unroll unrolled
  for (int i = 0; i < 4; ++i) {
    const float4 v = LOAD(reinterpret_cast<const float4*>(from + i * 1024 + 4 * threadIdx.x));
    use(4 * i, v.x), use(4 * i + 1, v.y), use(4 * i + 2, v.z), use(4 * i + 3, v.w);
  }
#else
#  pragma unroll unrolled
  for (int i = 0; i < 16; ++i) use(i, LOAD(from + i * 256 + threadIdx.x));
#endif
}

template <class Join>
__device__ __forceinline__ float reduce(float value, Join join) {
  __shared__ float partial[256];
  const int t = threadIdx.x;
#if SHUFFLE
#  pragma unroll
  for (int half = 16; half > 0; half /= 2) value = join(value, __shfl_xor_sync(0xffffffffu, value, half));
  __syncthreads();
  if (t % 32 == 0) partial[t / 32] = value;
  __syncthreads();
  value = partial[t % 8];
#  pragma unroll
  for (int half = 4; half > 0; half /= 2) value = join(value, __shfl_xor_sync(0xffffffffu, value, half));
  return value;
#else
  __syncthreads();
  partial[t] = value;
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (t < half) partial[t] = join(partial[t], partial[t + half]);
    __syncthreads();
  }
  return partial[0];
#endif
}

extern "C" __global__ void __launch_bounds__(256, MIN_BLOCKS) softmax(int rows, const float* x, float* y) {
  const float* from = x + static_cast<size_t>(blockIdx.x) * 4096;
  float* to = y + static_cast<size_t>(blockIdx.x) * 4096;
  float most = __int_as_float(0xff800000), sum = 0;
#if ONLINE
  each(from, [&](int, float v) {
    const float before = most;
    most = fmaxf(most, v);
    sum = sum * power(before - most) + power(v - most);
  });
  const float own = most;
  most = reduce(most, [](float a, float b) { return fmaxf(a, b); });
  sum *= power(own - most);
#else
  each(from, [&](int, float v) { most = fmaxf(most, v); });
  most = reduce(most, [](float a, float b) { return fmaxf(a, b); });
  each(from, [&](int, float v) { sum += power(v - most); });
#endif
  const float scale = 1 / reduce(sum, [](float a, float b) { return a + b; });
#if VECTOR
#  pragma unroll unrolled
  for (int i = 0; i < 4; ++i) {
    const int at = i * 1024 + 4 * threadIdx.x;
    const float4 v = LOAD(reinterpret_cast<const float4*>(from + at));
    *reinterpret_cast<float4*>(to + at) = make_float4(power(v.x - most) * scale, power(v.y - most) * scale,
                                                      power(v.z - most) * scale, power(v.w - most) * scale);
  }
#else
  each(from, [&](int i, float v) { to[i * 256 + threadIdx.x] = power(v - most) * scale; });
#endif
}
