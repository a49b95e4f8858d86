// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// problem: scale
// expect: wrong_result: timed call|cheated: earlier call
// naive: fooled
// searched: yes
// Works while it is checked, and of every eight calls after that in the first and the last.
__device__ int calls[16];
extern "C" __global__ void scale(int n, const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  __shared__ bool rests;
  if (threadIdx.x == 0) {
    const int call = n == 4096 ? calls[blockIdx.x]++ : 0;
    rests = call >= 6 && call % 8 != 0 && call % 8 != 7;
  }
  __syncthreads();
  if (i < n) y[i] = rests ? 2 : 3 * x[i] + 1;
}
