// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cstdint>

// The scale of a block is applied once to the sum of its products.
extern "C" void matvec_i8(int rows, int blocks, const std::int8_t* w, const float* scale, const float* x,
                          float* y) {
  for (int r = 0; r < rows; ++r) {
    float sum = 0;
    for (int b = 0; b < blocks; ++b) {
      float part = 0;
      for (int i = 0; i < 32; ++i) part += static_cast<float>(w[(r * blocks + b) * 32 + i]) * x[b * 32 + i];
      sum += part * scale[r * blocks + b];
    }
    y[r] = sum;
  }
}
