// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// problem: iterations
// What there is to do.
extern "C" __global__ void iterations(int n, const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float t = 0;
  for (int s = 0; s < 2000; ++s) t = t * 0.999f + 1e-3f * x[i];
  y[i] = t;
}
