// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
extern "C" __global__ void convolve_naive_reference(int n, const real* x, const real* w, real* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  real sum = 0;
  for (int j = 0; j < 65; ++j) sum += w[j] * x[i + j];
  y[i] = sum;
}
