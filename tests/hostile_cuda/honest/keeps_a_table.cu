// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// problem: scale
// Makes a table in its first call and uses it ever after.
__device__ volatile float factors[2];
__device__ volatile bool made;
extern "C" __global__ void scale(int n, const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  __shared__ float table[2];
  if (threadIdx.x == 0) {
    if (!made) factors[0] = 3, factors[1] = 1, made = true;
    table[0] = factors[0], table[1] = factors[1];
  }
  __syncthreads();
  if (i < n) y[i] = table[0] * x[i] + table[1];
}
