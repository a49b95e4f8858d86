// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// problem: dot
// Products of half precision numbers, summed up in single precision.
#if defined(__CUDACC_RTC__)
#  include <cuda_fp16.h>
#else
#  include <hip/hip_fp16.h>
#endif
extern "C" __global__ void dot(int n, const __half* x, const __half* y, float* s) {
  __shared__ float all[64];
  float t = 0;
  for (int i = threadIdx.x; i < n; i += 64) t += __half2float(x[i]) * __half2float(y[i]);
  all[threadIdx.x] = t;
  __syncthreads();
  if (threadIdx.x != 0) return;
  t = 0;
  for (int i = 0; i < 64; ++i) t += all[i];
  *s = t;
}
