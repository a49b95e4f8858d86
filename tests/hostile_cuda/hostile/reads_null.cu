// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// problem: scale
// expect: crashed:
// naive: breaks
// Reads address 0.
extern "C" __global__ void scale(int n, const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float* nothing = n > 0 ? nullptr : x;
  if (i < n) y[i] = *(volatile const float*)nothing;
}
