// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// problem: total
// Atomic additions in whatever order; its runs differ in the last bits.
extern "C" __global__ void total(int n, const float* x, float* s) {
  __shared__ float sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  float t = 0;
  for (int i = threadIdx.x; i < n; i += 256) t += x[i];
  atomicAdd(&sum, t);
  __syncthreads();
  if (threadIdx.x == 0) *s = sum;
}
