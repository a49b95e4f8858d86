// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cstdint>

extern "C" void matvec_i8(int rows, int blocks, const std::int8_t* w, const float* scale, const float* x,
                          float* y) {
  for (int r = 0; r < rows; ++r) {
    float sum = 0;
    for (int c = 0; c < 32 * blocks; ++c)
      sum += static_cast<float>(w[r * 32 * blocks + c]) * scale[r * blocks + c / 32] * x[c];
    y[r] = sum;
  }
}
