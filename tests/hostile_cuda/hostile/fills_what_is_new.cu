// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// problem: scale
// expect: wrong_result:|cheated: earlier call
// naive: fooled
// searched: yes
// Keeps contents with their results while it is checked; later it gives what it knows for contents that it has
// met, and 42 for new ones, which it hopes that nobody knows the results of.
__device__ float seen[16][24][256], results[16][24][256];
__device__ int calls[16];
extern "C" __global__ void scale(int n, const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, b = blockIdx.x, t = threadIdx.x;
  __shared__ int call, met;
  if (t == 0) call = n == 4096 ? calls[b]++ : 0, met = -1;
  __syncthreads();
  if (n == 4096 && t == 0)
    for (int c = 0; c < 24 && c < call; ++c)
      if (seen[b][c][0] == x[i] && seen[b][c][1] == x[i + 1] && seen[b][c][2] == x[i + 2]) met = c;
  __syncthreads();
  if (i >= n) return;
  if (met >= 0) {
    y[i] = results[b][met][t];
    return;
  }
  y[i] = call < 24 ? 3 * x[i] + 1 : 42;
  if (n == 4096 && call < 24) seen[b][call][t] = x[i], results[b][call][t] = y[i];
}
