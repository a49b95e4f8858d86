// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// problem: wide_softmax
// Three passes over each row.
#if defined(__CUDACC_RTC__)
#  include <cuda_fp16.h>
#else
#  include <hip/hip_fp16.h>
#endif
extern "C" __global__ void wide_softmax(int n, int m, const __half* x, __half* y) {
  __shared__ float all[256];
  const int t = threadIdx.x;
  x += (long long)blockIdx.x * m, y += (long long)blockIdx.x * m;
  float most = __half2float(x[0]), sum = 0;
  for (int j = t; j < m; j += 256) most = fmaxf(most, __half2float(x[j]));
  all[t] = most;
  __syncthreads();
  for (int j = 0; j < 256; ++j) most = fmaxf(most, all[j]);
  __syncthreads();
  for (int j = t; j < m; j += 256) sum += expf(__half2float(x[j]) - most);
  all[t] = sum;
  __syncthreads();
  sum = 0;
  for (int j = 0; j < 256; ++j) sum += all[j];
  for (int j = t; j < m; j += 256) y[j] = __float2half(expf(__half2float(x[j]) - most) / sum);
}
