// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Halves the longer side until blocks are small.
// problem: transpose
static void part(const float* x, float* y, int rows, int columns, int r0, int r1, int c0, int c1) {
  if (r1 - r0 <= 8 && c1 - c0 <= 8) {
    for (int r = r0; r < r1; ++r)
      for (int c = c0; c < c1; ++c) y[c * rows + r] = x[r * columns + c];
  } else if (r1 - r0 >= c1 - c0) {
    part(x, y, rows, columns, r0, (r0 + r1) / 2, c0, c1);
    part(x, y, rows, columns, (r0 + r1) / 2, r1, c0, c1);
  } else {
    part(x, y, rows, columns, r0, r1, c0, (c0 + c1) / 2);
    part(x, y, rows, columns, r0, r1, (c0 + c1) / 2, c1);
  }
}
extern "C" void transpose(int rows, int columns, const float* x, float* y) {
  part(x, y, rows, columns, 0, rows, 0, columns);
}
