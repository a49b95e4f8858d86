// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cmath>
#include <cstdint>

// The softmax of each row: exp(x - max) over the sum of these along the row.
void softmax_reference(std::int32_t rows, std::int32_t columns, const real* input, real* output) {
  for (std::int64_t row = 0; row < rows; ++row) {
    const real* x = input + row * columns;
    real* y = output + row * columns;
    real largest = x[0];
    for (std::int64_t i = 1; i < columns; ++i) largest = x[i] > largest ? x[i] : largest;
    real sum = 0;
    for (std::int64_t i = 0; i < columns; ++i) {
      y[i] = std::exp(x[i] - largest);
      sum += y[i];
    }
    for (std::int64_t i = 0; i < columns; ++i) y[i] /= sum;
  }
}
