// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// problem: sines
// expect: wrong_result:
// naive: fooled
// only: cuda
// The quick sine, which is none far from 0.
extern "C" __global__ void sines(int n, const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = __sinf(x[i]);
}
