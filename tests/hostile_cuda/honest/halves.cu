// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// problem: halves
// Half precision in and out, single precision between.
#if defined(__CUDACC_RTC__)
#  include <cuda_fp16.h>
#else
#  include <hip/hip_fp16.h>
#endif
extern "C" __global__ void halves(int n, const __half* x, __half* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = __float2half(3 * __half2float(x[i]) + 1);
}
