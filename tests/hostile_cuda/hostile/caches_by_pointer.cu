// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// problem: scale
// expect: cheated: earlier call|wrong_result:
// naive: fooled
// Gives a buffer that it has seen the result that it had then.
__device__ const float* seen[16][64];
__device__ float results[64][4096];
__device__ int next[16];
extern "C" __global__ void scale(int n, const float* x, float* y) {
  __shared__ int known;
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (threadIdx.x == 0) {
    known = -1;
    for (int c = 0; c < 64; ++c)
      if (seen[blockIdx.x][c] == x) known = c;
  }
  __syncthreads();
  if (known >= 0) {
    if (i < n) y[i] = results[known][i];
    return;
  }
  const int slot = next[blockIdx.x];
  if (i < n) results[slot][i] = y[i] = 3 * x[i] + 1;
  __syncthreads();
  if (threadIdx.x == 0) {
    seen[blockIdx.x][slot] = x;
    next[blockIdx.x] = (slot + 1) % 64;
  }
}
