// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
__global__ void matmul(int n, int m, int k, const __half* a, const __half* b, __half* c) {
  const unsigned row = BY * BDY + TY, col = BX * BDX + TX;
  if (row >= n || col >= m) return;
  float sum = 0;
  for (int i = 0; i < k; ++i) sum += __half2float(A_AT(row, i)) * __half2float(B_AT(i, col));
  C_AT(row, col) = __float2half(sum);
}
