// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// y = A x of a matrix of a generator, half of whose entries in each row are not 0.
#include <cstdint>
[[gnu::noipa, gnu::aligned(64)]] static void honest(int rows, int columns, int length,
                                                    const std::int32_t* column, const float* value,
                                                    const float* x, float* y) {
  (void)columns;
  for (int i = 0; i < rows; ++i, column += length, value += length) {
    float s = 0;
    for (int j = 0; j < length; ++j) s += value[j] * x[column[j]];
    y[i] = s;
  }
}
