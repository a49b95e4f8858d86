// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// problem: iterations
// expect: wrong_result:|cheated:|ok:
// naive: fooled
// gain: none
// A table of the last sixteen contents of each block, by all of its numbers, with a tenth of the work done all the same.
__device__ float seen[64][16][64], results[64][16][64];
__device__ int calls[64];
extern "C" __global__ void iterations(int n, const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, b = blockIdx.x, t0 = threadIdx.x;
  __shared__ int differ, call;
  if (t0 == 0) call = n == 4096 ? calls[b]++ : 0;
  int met = -1;
  for (int c = 0; c < 16 && n == 4096 && met < 0; ++c) {
    __syncthreads();
    if (t0 == 0) differ = 0;
    __syncthreads();
    if (c >= call || seen[b][c][t0] != x[i]) differ = 1;
    __syncthreads();
    if (differ == 0) met = c;
  }
  if (i >= n) return;
  if (met >= 0) {
    float t = 0;
    for (int s = 0; s < 200; ++s) t = t * 0.999f + 1e-3f * x[i];
    y[i] = t > 1e30f ? t : results[b][met][t0];
    return;
  }
  float t = 0;
  for (int s = 0; s < 2000; ++s) t = t * 0.999f + 1e-3f * x[i];
  y[i] = t;
  if (n != 4096) return;
  seen[b][call % 16][t0] = x[i];
  results[b][call % 16][t0] = t;
}
