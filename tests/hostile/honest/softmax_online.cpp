// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Maximum and sum in one pass.
// problem: softmax
#include <cmath>
extern "C" void softmax(int rows, int columns, const float* x, float* y) {
  for (int r = 0; r < rows; ++r, x += columns, y += columns) {
    float top = x[0], sum = 1;
    for (int i = 1; i < columns; ++i) {
      if (x[i] > top) {
        sum = sum * std::exp(top - x[i]) + 1;
        top = x[i];
      } else {
        sum += std::exp(x[i] - top);
      }
    }
    for (int i = 0; i < columns; ++i) y[i] = std::exp(x[i] - top) / sum;
  }
}
