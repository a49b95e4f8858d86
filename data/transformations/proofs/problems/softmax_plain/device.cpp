// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cmath>

extern "C" void softmax(int rows, int columns, const float* x, float* y) {
  for (int r = 0; r < rows; ++r) {
    const float* in = x + static_cast<long>(r) * columns;
    float* out = y + static_cast<long>(r) * columns;
    float largest = in[0];
    for (int c = 1; c < columns; ++c) largest = in[c] > largest ? in[c] : largest;
    float sum = 0;
    for (int c = 0; c < columns; ++c) sum += out[c] = std::exp(in[c] - largest);
    for (int c = 0; c < columns; ++c) out[c] /= sum;
  }
}
