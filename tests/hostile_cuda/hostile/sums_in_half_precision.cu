// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// problem: dot
// expect: wrong_result: s[
// naive: fooled
// Products of half precision numbers are summed up in half precision, not in single.
#if defined(__CUDACC_RTC__)
#  include <cuda_fp16.h>
#else
#  include <hip/hip_fp16.h>
#endif
extern "C" __global__ void dot(int n, const __half* x, const __half* y, float* s) {
  __shared__ __half all[64];
  __half t = __float2half(0);
  for (int i = threadIdx.x; i < n; i += 64) t = __hfma(x[i], y[i], t);
  all[threadIdx.x] = t;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (int i = 1; i < 64; ++i) t = __hadd(t, all[i]);
  *s = __half2float(t);
}
