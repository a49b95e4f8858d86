// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "image.hpp"

void median_u8_reference(std::int32_t height, std::int32_t width, const std::uint8_t* image,
                         std::uint8_t* result) {
  const Image in{image, height, width};
  for (std::int32_t y = 0; y < height; ++y)
    for (std::int32_t x = 0; x < width; ++x) {
      std::uint8_t window[9];
      for (std::int32_t k = 0; k < 9; ++k) window[k] = in.at(y + k / 3 - 1, x + k % 3 - 1);
      std::nth_element(window, window + 4, window + 9);
      result[static_cast<std::ptrdiff_t>(y) * width + x] = window[4];
    }
}
