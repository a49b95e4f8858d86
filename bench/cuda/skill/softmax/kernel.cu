// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Softmax of rows of 4096, 256 threads a row. Each method of methods/softmax.json can be put in by itself;
// writer.py sets these.
#ifndef KEEP
#  define KEEP 0      // memory.keep_row: the row is read once, into registers
#  define VECTOR 0    // memory.vectorized_access: four floats an access
#  define SHUFFLE 0   // latency.warp_shuffle_sync: reductions by shuffles, two barriers instead of eight
#  define FAST_EXP 0  // compute.fast_exponential: the special function unit's, without expf's range reduction
#  define READ_ONLY 0   // latency.read_only_loads: through the read-only path, which no load here waits for
#  define UNROLL 1      // passes' steps at once, where the row is not kept
#  define MIN_BLOCKS 1  // for which registers are to suffice
#endif

#if READ_ONLY
#  define LOAD(address) __ldg(address)
#else
#  define LOAD(address) (*(address))
#endif

__device__ float power(float x) {
#if FAST_EXP
  return __expf(x);
#else
  return expf(x);
#endif
}

// The thread's sixteen elements of the row, with their numbers.
template <class Use>
__device__ __forceinline__ void each(const float* from, Use use) {
  constexpr int unrolled = KEEP ? 16 : UNROLL;
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
#if KEEP
  float kept[16];
  each(from, [&](int i, float v) {
    kept[i] = v;
    most = fmaxf(most, v);
  });
  most = reduce(most, [](float a, float b) { return fmaxf(a, b); });
#  pragma unroll
  for (int i = 0; i < 16; ++i) sum += kept[i] = power(kept[i] - most);
  const float scale = 1 / reduce(sum, [](float a, float b) { return a + b; });
#  pragma unroll
  for (int i = 0; i < 16; ++i) kept[i] *= scale;
#  if VECTOR
#    pragma unroll
  for (int i = 0; i < 4; ++i)
    *reinterpret_cast<float4*>(to + i * 1024 + 4 * threadIdx.x) =
        make_float4(kept[4 * i], kept[4 * i + 1], kept[4 * i + 2], kept[4 * i + 3]);
#  else
#    pragma unroll
  for (int i = 0; i < 16; ++i) to[i * 256 + threadIdx.x] = kept[i];
#  endif
#else
  each(from, [&](int, float v) { most = fmaxf(most, v); });
  most = reduce(most, [](float a, float b) { return fmaxf(a, b); });
  each(from, [&](int, float v) { sum += power(v - most); });
  const float scale = 1 / reduce(sum, [](float a, float b) { return a + b; });
  each(from, [&](int i, float v) {
#  if VECTOR
    to[i / 4 * 1024 + 4 * threadIdx.x + i % 4] = power(v - most) * scale;
#  else
    to[i * 256 + threadIdx.x] = power(v - most) * scale;
#  endif
  });
#endif
}
