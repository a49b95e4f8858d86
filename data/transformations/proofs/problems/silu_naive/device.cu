// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
static __device__ __forceinline__ float silu_of(float x) { return x / (1.0f + __expf(-x)); }
__global__ void silu(int n, const __half* x, __half* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = __float2half(silu_of(__half2float(x[i])));
}
