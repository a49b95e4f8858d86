// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Row after row.
// problem: maxima
extern "C" void maxima(int rows, int columns, const float* x, float* top, int* at) {
  for (int r = 0; r < rows; ++r) {
    const float* a = x + r * columns;
    int best = 0;
    for (int i = 1; i < columns; ++i)
      if (a[i] > a[best]) best = i;
    top[r] = a[best];
    at[r] = best;
  }
}
