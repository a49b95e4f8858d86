// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// problem: scale
// expect: timed_out: did not finish
// naive: breaks
// Waits for something that never comes.
extern "C" __global__ void scale(int n, const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  while (*(volatile const float*)x < 100) {
  }
  if (i < n) y[i] = 3 * x[i] + 1;
}
