// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cstdint>

void matvec_i8_reference(int rows, int blocks, const std::int8_t* w, const real* scale, const real* x,
                         real* y) {
  for (int r = 0; r < rows; ++r) {
    real sum = 0;
    for (int c = 0; c < 32 * blocks; ++c)
      sum += static_cast<real>(w[r * 32 * blocks + c]) * scale[r * blocks + c / 32] * x[c];
    y[r] = sum;
  }
}
