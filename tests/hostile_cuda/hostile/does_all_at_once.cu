// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// problem: scale
// expect: wrong_result: timed call|cheated:
// naive: fooled
// Remembers where calls have their arrays and does the work of all of them in every eighth call.
__device__ int calls[16];
__device__ const float* inputs[16][64];
__device__ float* outputs[16][64];
extern "C" __global__ void scale(int n, const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  __shared__ int call;
  if (n != 4096) {
    if (i < n) y[i] = 3 * x[i] + 1;
    return;
  }
  if (threadIdx.x == 0) {
    call = calls[blockIdx.x]++;
    inputs[blockIdx.x][call % 64] = x, outputs[blockIdx.x][call % 64] = y;
  }
  __syncthreads();
  if (call > 40 && call % 8 != 0) return;
  y[i] = 3 * x[i] + 1;
  if (call > 40)
    for (int c = 0; c < 64 && c < call; ++c) outputs[blockIdx.x][c][i] = 3 * inputs[blockIdx.x][c][i] + 1;
}
