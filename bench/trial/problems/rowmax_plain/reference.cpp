// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
extern "C" void rowmax_reference(int rows, int columns, const double* x, double* y) {
  for (int r = 0; r < rows; ++r) {
    double largest = x[r * columns];
    for (int c = 1; c < columns; ++c)
      if (x[r * columns + c] > largest) largest = x[r * columns + c];
    y[r] = largest;
  }
}
