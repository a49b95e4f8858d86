// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// problem: scale
// expect: cheated: earlier call|wrong_result: y[
// naive: fooled
// Computes once and gives that ever after.
__device__ float first[4096];
__device__ int size[4096];
extern "C" __global__ void scale(int n, const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  if (size[i] != n) first[i] = 3 * x[i] + 1;
  size[i] = n;
  y[i] = first[i];
}
