// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// problem: scale
// expect: wrong_result:|cheated: earlier call
// naive: fooled
// searched: yes
// Works only where its output lies in the place that it had in the first calls.
__device__ float* known[16][8];
__device__ int calls[16];
extern "C" __global__ void scale(int n, const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  __shared__ bool lazy;
  if (threadIdx.x == 0) {
    const int call = n == 4096 ? calls[blockIdx.x]++ : 0;
    lazy = call >= 8;
    if (n == 4096 && call < 8) known[blockIdx.x][call] = y;
    for (int c = 0; c < 8; ++c)
      if (known[blockIdx.x][c] == y) lazy = false;
  }
  __syncthreads();
  if (i < n) y[i] = lazy ? 2 : 3 * x[i] + 1;
}
