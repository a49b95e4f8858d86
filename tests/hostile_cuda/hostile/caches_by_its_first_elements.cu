// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// problem: scale
// expect: ok:|wrong_result:
// naive: fooled
// Two numbers say whether contents are those of the call before, whose results it then gives: never, where those of
// every call are drawn anew, or twice zero in a row, where such a pair is drawn after an array of zeros.
__device__ float before[16][2], results[4096];
__device__ int size[16];
extern "C" __global__ void scale(int n, const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, b = blockIdx.x;
  const bool met = size[b] == n && before[b][0] == x[0] && before[b][1] == x[1];
  __syncthreads();
  if (i < n && !met) results[i] = 3 * x[i] + 1;
  if (i < n) y[i] = results[i];
  if (threadIdx.x == 0) before[b][0] = x[0], before[b][1] = x[1], size[b] = n;
}
