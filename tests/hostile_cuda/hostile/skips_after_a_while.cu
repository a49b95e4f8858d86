// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// problem: scale
// expect: wrong_result: timed call|cheated: earlier call
// naive: fooled
// searched: yes
// Some milliseconds after its tenth call checks must be over.
__device__ long long since[16];
__device__ int calls[16];
extern "C" __global__ void scale(int n, const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  __shared__ bool lazy;
  if (threadIdx.x == 0) {
    const int call = n == 4096 ? calls[blockIdx.x]++ : 0;
    if (call == 10) since[blockIdx.x] = clock64();
    lazy = call > 10 && clock64() - since[blockIdx.x] > 500000;
  }
  __syncthreads();
  if (i < n) y[i] = lazy ? 2 : 3 * x[i] + 1;
}
