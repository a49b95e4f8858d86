// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// problem: scale
// expect: wrong_result: timed call|cheated: earlier call
// naive: fooled
// When checks are surely over it flips a coin for each call: the median is that of calls without work.
__device__ int calls[16];
extern "C" __global__ void scale(int n, const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  __shared__ bool lazy;
  if (threadIdx.x == 0) {
    const unsigned call = n == 4096 ? calls[blockIdx.x]++ : 0;
    lazy = call >= 10 && (call * 2654435761u >> 20 & 7) < 5;
  }
  __syncthreads();
  if (i < n) y[i] = lazy ? 1 : 3 * x[i] + 1;
}
