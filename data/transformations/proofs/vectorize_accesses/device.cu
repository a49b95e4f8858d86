// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
static __device__ __forceinline__ float silu_of(float x) { return x / (1.0f + __expf(-x)); }
__global__ void silu(int n, const __half* x, __half* y) {
  const long long i = ((long long)blockIdx.x * blockDim.x + threadIdx.x) * VECTOR_WIDTH;
  // Arrays begin at multiples of 16 bytes, so every whole vector is aligned.
  if (i + VECTOR_WIDTH <= n) {
    Vector v = *reinterpret_cast<const Vector*>(x + i);
#pragma unroll
    for (int e = 0; e < VECTOR_WIDTH; ++e) v.at[e] = __float2half(silu_of(__half2float(v.at[e])));
    *reinterpret_cast<Vector*>(y + i) = v;
  } else {
    for (long long e = i; e < n; ++e) y[e] = __float2half(silu_of(__half2float(x[e])));
  }
}
