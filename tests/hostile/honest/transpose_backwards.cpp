// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Writes its output from the end.
// problem: transpose
extern "C" void transpose(int rows, int columns, const float* x, float* y) {
  for (int i = rows * columns; i-- > 0;) y[i] = x[i % rows * columns + i / rows];
}
