// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// problem: halves
// Two at a time, in half precision throughout.
#if defined(__CUDACC_RTC__)
#  include <cuda_fp16.h>
#else
#  include <hip/hip_fp16.h>
#endif
extern "C" __global__ void halves(int n, const __half* x, __half* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const __half2 three = __halves2half2(__float2half(3), __float2half(3)),
                one = __halves2half2(__float2half(1), __float2half(1));
  if (2 * i + 1 < n) ((__half2*)y)[i] = __hfma2(((const __half2*)x)[i], three, one);
}
