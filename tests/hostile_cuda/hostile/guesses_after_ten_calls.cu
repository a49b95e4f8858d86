// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// problem: scale
// expect: wrong_result: timed call|cheated: earlier call
// naive: fooled
// When checks are surely over it writes something cheap instead of leaving outputs alone.
__device__ int calls[16];
extern "C" __global__ void scale(int n, const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  __shared__ bool tired;
  if (threadIdx.x == 0) tired = n == 4096 && calls[blockIdx.x]++ >= 10;
  __syncthreads();
  if (i < n) y[i] = tired ? 1 : 3 * x[i] + 1;
}
