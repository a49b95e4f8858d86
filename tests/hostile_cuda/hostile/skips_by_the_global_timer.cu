// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// problem: scale
// expect: wrong_result: timed call|cheated: earlier call
// naive: fooled
// only: cuda
// searched: yes
// As with the clock, by the timer that all multiprocessors share.
__device__ unsigned long long since;
__device__ int calls[16];
extern "C" __global__ void scale(int n, const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  __shared__ bool lazy;
  if (threadIdx.x == 0) {
    unsigned long long now;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
    const int call = n == 4096 ? calls[blockIdx.x]++ : 0;
    if (call == 10) since = now;
    lazy = call > 10 && now - since > 300000;
  }
  __syncthreads();
  if (i < n) y[i] = lazy ? 2 : 3 * x[i] + 1;
}
