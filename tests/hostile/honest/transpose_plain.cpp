// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Row after row.
// problem: transpose
extern "C" void transpose(int rows, int columns, const float* x, float* y) {
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < columns; ++c) y[c * rows + r] = x[r * columns + c];
}
