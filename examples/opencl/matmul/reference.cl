// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

__kernel void matmul_reference(int n, const __global real* a, const __global real* b, __global real* c) {
  const int column = get_global_id(0), row = get_global_id(1);
  real sum = 0;
  for (int k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + column];
  c[row * n + column] = sum;
}
