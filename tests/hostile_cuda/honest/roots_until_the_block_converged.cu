// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// problem: roots
// The whole block goes on until its last number has converged.
extern "C" __global__ void roots(int n, const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  __shared__ int moved;
  float r = i < n ? x[i] : 1;
  for (int step = 0; step < 200; ++step) {
    __syncthreads();
    if (threadIdx.x == 0) moved = 0;
    __syncthreads();
    if (i < n && r != 0) {
      const float next = r - (r - x[i] / (r * r)) / 3;
      if (fabsf(next - r) > 1e-6f * fabsf(next)) moved = 1;
      r = next;
    }
    __syncthreads();
    if (moved == 0) break;
  }
  if (i < n) y[i] = r;
}
