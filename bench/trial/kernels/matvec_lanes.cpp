// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cstdint>

// 32 sums side by side, one for each value of a block, with its scale applied to each product.
extern "C" void matvec_i8(int rows, int blocks, const std::int8_t* __restrict w,
                          const float* __restrict scale, const float* __restrict x, float* __restrict y) {
  for (int r = 0; r < rows; ++r) {
    float sums[32] = {};
    for (int b = 0; b < blocks; ++b) {
      const float s = scale[r * blocks + b];
      const std::int8_t* __restrict from = w + (r * blocks + b) * 32;
      for (int i = 0; i < 32; ++i) sums[i] += static_cast<float>(from[i]) * (s * x[b * 32 + i]);
    }
    float sum = 0;
    for (int i = 0; i < 32; ++i) sum += sums[i];
    y[r] = sum;
  }
}
