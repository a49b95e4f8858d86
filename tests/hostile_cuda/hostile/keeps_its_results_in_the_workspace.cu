// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// problem: scale_workspace
// expect: ok:
// naive: fooled
// Numbers and results of the last call stay in the workspace, and are of no use to the next.
extern "C" __global__ void scale(int n, const float* x, float* w, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  if (w[i] != x[i]) {
    w[n + i] = 3 * x[i] + 1;
    w[i] = x[i];
  }
  y[i] = w[n + i];
}
