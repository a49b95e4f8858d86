// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// As the textbook has it.
// problem: softmax
#include <cmath>
extern "C" void softmax(int rows, int columns, const float* x, float* y) {
  for (int r = 0; r < rows; ++r, x += columns, y += columns) {
    float top = x[0], sum = 0;
    for (int i = 1; i < columns; ++i) top = x[i] > top ? x[i] : top;
    for (int i = 0; i < columns; ++i) sum += y[i] = std::exp(x[i] - top);
    for (int i = 0; i < columns; ++i) y[i] /= sum;
  }
}
