// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Works eight times as long on half of the contents.
// problem: norm
#include <cmath>
extern "C" void norm(int rows, int columns, const double* x, double* y) {
  const int times = x[0] > 0 ? 8 : 1;
  for (int t = 0; t < times; ++t) {
    for (int r = 0; r < rows; ++r) {
      double sum = 0;
      for (int i = 0; i < columns; ++i) sum += x[r * columns + i] * x[r * columns + i];
      y[r] = std::sqrt(sum);
    }
    asm volatile("" ::: "memory");
  }
}
