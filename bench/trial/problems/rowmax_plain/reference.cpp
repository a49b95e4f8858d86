// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
void rowmax_reference(int rows, int columns, const real* x, real* y) {
  for (int r = 0; r < rows; ++r) {
    real largest = x[r * columns];
    for (int c = 1; c < columns; ++c)
      if (x[r * columns + c] > largest) largest = x[r * columns + c];
    y[r] = largest;
  }
}
