// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

/// A grey image of 8 bits whose border repeats outwards.
struct Image {
  const std::uint8_t* pixels;
  std::int32_t height, width;

  std::uint8_t at(std::int32_t y, std::int32_t x) const {
    y = std::clamp(y, 0, height - 1);
    x = std::clamp(x, 0, width - 1);
    return pixels[static_cast<std::ptrdiff_t>(y) * width + x];
  }
};
