// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// problem: product_slow
// expect: wrong_result:|cheated:
// naive: fooled
// searched: yes
// After twenty launches in half precision.
#if defined(__CUDACC_RTC__)
#  include <cuda_fp16.h>
#else
#  include <hip/hip_fp16.h>
#endif
__device__ int calls[64];
extern "C" __global__ void product(int n, int m, int k, const float* a, const float* b, float* c) {
  const int i = blockIdx.y * 16 + threadIdx.y, j = blockIdx.x * 16 + threadIdx.x, at = blockIdx.y * 8 + blockIdx.x;
  __shared__ bool late;
  if (threadIdx.x == 0 && threadIdx.y == 0) late = n == 128 && calls[at]++ >= 20;
  __syncthreads();
  if (i >= n || j >= m) return;
  float t = 0;
  __half s = __float2half(0);
  if (late)
    for (int l = 0; l < k; ++l) s = __hfma(__float2half(a[i * k + l]), __float2half(b[l * m + j]), s);
  else
    for (int l = 0; l < k; ++l) t += a[i * k + l] * b[l * m + j];
  c[i * m + j] = late ? __half2float(s) : t;
}
