// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// y = x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) of half numbers, n a multiple of 8; blocks take their
// share in a loop. merit.json says which method each macro is; the writer sets them.
#include <cuda_fp16.h>

#ifndef VECTOR
#  define VECTOR 0   // eight values an access
#  define FAST 0     // tanh by the special function unit
#  define COARSEN 1  // steps of a thread at once
#  define STREAM 0   // what is read and written once is said to be
#endif

namespace {

__device__ __forceinline__ float one(float x) {
  const float inner = 0.7978845608f * (x + 0.044715f * x * x * x);
#if FAST
  float t;
  asm("tanh.approx.f32 %0, %1;" : "=f"(t) : "f"(inner));
#else
  const float t = tanhf(inner);
#endif
  return 0.5f * x * (1 + t);
}

#if VECTOR
using Unit = uint4;
#else
using Unit = unsigned short;
#endif

__device__ __forceinline__ Unit of(Unit in) {
  constexpr int values = sizeof(Unit) / 2;
  Unit out;
  const __half* from = reinterpret_cast<const __half*>(&in);
  __half* to = reinterpret_cast<__half*>(&out);
#pragma unroll
  for (int i = 0; i < values; ++i) to[i] = __float2half(one(__half2float(from[i])));
  return out;
}

__device__ __forceinline__ Unit load(const Unit* from) {
#if STREAM
  return __ldcs(from);
#else
  return *from;
#endif
}

__device__ __forceinline__ void store(Unit* to, Unit value) {
#if STREAM
  __stcs(to, value);
#else
  *to = value;
#endif
}

}  // namespace

extern "C" __global__ void gelu(int n, const __half* x, __half* y) {
  const Unit* from = reinterpret_cast<const Unit*>(x);
  Unit* to = reinterpret_cast<Unit*>(y);
  const int units = n / static_cast<int>(sizeof(Unit) / 2);
  const int width = static_cast<int>(gridDim.x * blockDim.x);
  int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
#if COARSEN > 1
  for (; i + (COARSEN - 1) * width < units; i += COARSEN * width) {
    Unit values[COARSEN];
#  pragma unroll
    for (int j = 0; j < COARSEN; ++j) values[j] = load(from + i + j * width);
#  pragma unroll
    for (int j = 0; j < COARSEN; ++j) store(to + i + j * width, of(values[j]));
  }
#endif
#pragma unroll 1
  for (; i < units; i += width) store(to + i, of(load(from + i)));
}
