// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Keeps what each addition loses.
// problem: norm
#include <cmath>
extern "C" void norm(int rows, int columns, const double* x, double* y) {
  for (int r = 0; r < rows; ++r) {
    double t = 0, lost = 0;
    for (int i = 0; i < columns; ++i) {
      const double v = x[r * columns + i] * x[r * columns + i] - lost, next = t + v;
      lost = next - t - v;
      t = next;
    }
    y[r] = std::sqrt(t);
  }
}
