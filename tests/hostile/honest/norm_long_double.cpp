// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Adds up in long double.
// problem: norm
#include <cmath>
extern "C" void norm(int rows, int columns, const double* x, double* y) {
  for (int r = 0; r < rows; ++r) {
    long double t = 0;
    for (int i = 0; i < columns; ++i) t += static_cast<long double>(x[r * columns + i]) * x[r * columns + i];
    y[r] = static_cast<double>(std::sqrt(t));
  }
}
