// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// problem: scale_workspace
// Goes through the workspace.
extern "C" __global__ void scale(int n, const float* x, float* w, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) w[i] = 3 * x[i];
  if (i < n) y[i] = w[i] + 1;
}
