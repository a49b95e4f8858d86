// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// problem: brain
// Sums of bf16 onto f64.
#if defined(__CUDACC_RTC__)
#  include <cuda_bf16.h>
typedef __nv_bfloat16 brain;
#else
#  include <hip/hip_bf16.h>
typedef __hip_bfloat16 brain;
#endif
extern "C" __global__ void sums(int n, int m, const brain* x, const double* z, double* y) {
  const int i = blockIdx.x * 32 + threadIdx.x;
  if (i >= n) return;
  double t = z[i];
  for (int j = 0; j < m; ++j) t += (double)__bfloat162float(x[i * m + j]);
  y[i] = t;
}
