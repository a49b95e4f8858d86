// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Makes a table anew in each fiftieth call, which takes as long as all the others.
// problem: norm
#include <cmath>
#include <vector>
extern "C" void norm(int rows, int columns, const double* x, double* y) {
  static std::vector<float> table(1 << 13);
  static int calls;
  if (++calls % 50 == 0)
    for (std::size_t i = 0; i < table.size(); ++i) table[i] = std::sin(static_cast<float>(i + calls));
  for (int r = 0; r < rows; ++r) {
    double sum = 0;
    for (int i = 0; i < columns; ++i) sum += x[r * columns + i] * x[r * columns + i];
    y[r] = std::sqrt(sum) + 0 * static_cast<double>(table[0]);
  }
}
