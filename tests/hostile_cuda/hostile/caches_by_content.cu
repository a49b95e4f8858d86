// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// problem: scale
// expect: ok:
// naive: fooled
// Keeps results by content: right, and of no use where contents are new in every call.
__device__ float seen[4096], results[4096];
__device__ bool known[4096];
extern "C" __global__ void scale(int n, const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  if (seen[i] == x[i] && known[i]) {
    y[i] = results[i];
    return;
  }
  y[i] = results[i] = 3 * x[i] + 1;
  seen[i] = x[i];
  known[i] = true;
}
