// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
extern "C" void rowmax(int rows, int columns, const float* x, float* y) {
  for (int r = 0; r < rows; ++r) {
    float largest = x[r * columns];
    for (int c = 1; c < columns; ++c) largest = x[r * columns + c] > largest ? x[r * columns + c] : largest;
    y[r] = largest;
  }
}
