// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
extern "C" __global__ void row_sums_naive_reference(int rows, int cols, const real* x, real* y) {
  const int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  real sum = 0;
  for (int c = 0; c < cols; ++c) sum += x[(size_t)r * cols + c];
  y[r] = sum;
}
