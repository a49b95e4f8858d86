// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

__kernel void transpose_reference(int rows, int cols, const __global real* x, __global real* y) {
  const int col = get_global_id(0), row = get_global_id(1);
  if (row < rows && col < cols) y[col * rows + row] = x[row * cols + col];
}
