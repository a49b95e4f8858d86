// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// problem: scale
// expect: wrong_result: timed call|cheated: earlier call
// naive: fooled
// searched: yes
// After ten calls a few bits of the clock decide in which of its blocks it works.
__device__ int calls[16];
extern "C" __global__ void scale(int n, const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  __shared__ bool lazy;
  if (threadIdx.x == 0) lazy = n == 4096 && calls[blockIdx.x]++ >= 10 && (clock64() >> 4 & 1) != 0;
  __syncthreads();
  if (i < n) y[i] = lazy ? 2 : 3 * x[i] + 1;
}
