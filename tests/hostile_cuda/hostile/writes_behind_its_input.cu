// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// problem: scale
// expect: cheated: past the end of x
// naive: fooled
// Uses the room behind its input as scratch memory.
extern "C" __global__ void scale(int n, const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float* scratch = (float*)x + n;
  if (i == 0) scratch[0] = 3;
  if (i < n) y[i] = 3 * x[i] + 1;
}
