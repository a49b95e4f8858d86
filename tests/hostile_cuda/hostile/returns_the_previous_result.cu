// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// problem: scale
// expect: cheated: earlier call|wrong_result: y[
// naive: fooled
// The first call is right; later ones give what the one before them should have given.
__device__ float before[4096];
__device__ int size[4096];
extern "C" __global__ void scale(int n, const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float result = 3 * x[i] + 1;
  y[i] = size[i] == n ? before[i] : result;
  before[i] = result;
  size[i] = n;
}
