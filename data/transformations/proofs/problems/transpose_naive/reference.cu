// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
extern "C" __global__ void transpose_naive_reference(int n, int m, const real* a, real* b) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < n && col < m) b[(size_t)col * n + row] = a[(size_t)row * m + col];
}
