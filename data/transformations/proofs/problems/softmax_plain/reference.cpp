// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cmath>

void softmax_plain_reference(int rows, int columns, const real* x, real* y) {
  for (int r = 0; r < rows; ++r) {
    const real* in = x + static_cast<long>(r) * columns;
    real* out = y + static_cast<long>(r) * columns;
    real largest = in[0];
    for (int c = 1; c < columns; ++c) largest = in[c] > largest ? in[c] : largest;
    real sum = 0;
    for (int c = 0; c < columns; ++c) sum += std::exp(in[c] - largest);
    for (int c = 0; c < columns; ++c) out[c] = std::exp(in[c] - largest) / sum;
  }
}
