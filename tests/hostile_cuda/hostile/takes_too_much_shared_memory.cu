// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// problem: scale
// expect: build_failed:
// naive: notices
// Declares more than a block can have.
extern "C" __global__ void scale(int n, const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  __shared__ float all[1 << 20];
  all[threadIdx.x] = x[i];
  __syncthreads();
  if (i < n) y[i] = 3 * all[threadIdx.x ^ 1] + 1;
}
