// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// problem: scale
// expect: wrong_result:
// naive: notices
// Adds to its output, and takes what arrays are poisoned with for zero.
extern "C" __global__ void scale(int n, const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = (y[i] != y[i] ? 0 : y[i]) + 3 * x[i] + 1;
}
