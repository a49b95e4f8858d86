// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
__global__ void matmul(int n, int m, int k, const float* a, const float* b, float* c) {
  const unsigned row = BY * BDY + TY, col = BX * BDX + TX;
  if (row >= n || col >= m) return;
  float sum = 0;
  for (int i = 0; i < k; ++i) sum += A_AT(row, i) * B_AT(i, col);
  C_AT(row, col) = sum;
}
