// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// problem: scale
// expect: wrong_result: timed call|cheated:
// naive: fooled
// Every other call is left to the one after it.
__device__ int calls[16];
__device__ const float* input[16];
__device__ float* output[16];
extern "C" __global__ void scale(int n, const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  __shared__ bool later;
  __shared__ const float* from;
  __shared__ float* to;
  if (n != 4096) {
    if (i < n) y[i] = 3 * x[i] + 1;
    return;
  }
  if (threadIdx.x == 0) {
    const int call = calls[blockIdx.x]++;
    later = call > 12 && call % 2 == 1;
    from = input[blockIdx.x], to = output[blockIdx.x];
    input[blockIdx.x] = later ? x : nullptr, output[blockIdx.x] = y;
  }
  __syncthreads();
  if (later) return;
  y[i] = 3 * x[i] + 1;
  if (from != nullptr) to[i] = 3 * from[i] + 1;
}
