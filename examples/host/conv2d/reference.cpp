// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cstdint>

// A 3 x 3 convolution (as neural networks use the word: no flip) without padding: input is channels x height
// x width, weights are filters x channels x 3 x 3, output is filters x (height - 2) x (width - 2).
void conv2d_reference(std::int32_t channels, std::int32_t filters, std::int32_t height, std::int32_t width,
                      const real* input, const real* weights, real* output) {
  const std::int64_t out_height = height - 2, out_width = width - 2;
  for (std::int64_t f = 0; f < filters; ++f) {
    for (std::int64_t y = 0; y < out_height; ++y) {
      for (std::int64_t x = 0; x < out_width; ++x) {
        real sum = 0;
        for (std::int64_t c = 0; c < channels; ++c) {
          for (std::int64_t r = 0; r < 3; ++r) {
            for (std::int64_t s = 0; s < 3; ++s) {
              sum +=
                  weights[((f * channels + c) * 3 + r) * 3 + s] * input[(c * height + y + r) * width + x + s];
            }
          }
        }
        output[(f * out_height + y) * out_width + x] = sum;
      }
    }
  }
}
