// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// problem: scale
// Turns its block around in shared memory.
extern "C" __global__ void scale(int n, const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  __shared__ float all[256];
  all[255 - threadIdx.x] = i < n ? x[i] : 0;
  __syncthreads();
  if (i < n) y[i] = 3 * all[255 - threadIdx.x] + 1;
}
