// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The median of 3 x 3 pixels, one window after the other or LANES windows at once.
#include "image.hpp"

namespace {

inline void order(std::uint8_t* a, std::uint8_t* b, int lanes) {
  for (int i = 0; i < lanes; ++i) {
    const std::uint8_t low = std::min(a[i], b[i]), high = std::max(a[i], b[i]);
    a[i] = low;
    b[i] = high;
  }
}

// The median of nine by 19 exchanges (Devillard, Fast median search, 1998).
template <int Lanes>
inline void network(std::uint8_t (*p)[Lanes]) {
  constexpr int pairs[19][2] = {{1, 2}, {4, 5}, {7, 8}, {0, 1}, {3, 4}, {6, 7}, {1, 2},
                                {4, 5}, {7, 8}, {0, 3}, {5, 8}, {4, 7}, {3, 6}, {1, 4},
                                {2, 5}, {4, 7}, {4, 2}, {6, 4}, {4, 2}};
  for (const auto& pair : pairs) order(p[pair[0]], p[pair[1]], Lanes);
}

inline std::uint8_t by_inserting(const std::uint8_t* window) {
  std::uint8_t sorted[9];
  for (int k = 0; k < 9; ++k) {
    int at = k;
    for (; at > 0 && sorted[at - 1] > window[k]; --at) sorted[at] = sorted[at - 1];
    sorted[at] = window[k];
  }
  return sorted[4];
}

template <int Lanes>
inline void windows(const Image& in, std::int32_t y, std::int32_t x, bool inside, std::uint8_t* out) {
  std::uint8_t p[9][Lanes];
  for (int k = 0; k < 9; ++k)
    for (int i = 0; i < Lanes; ++i)
      p[k][i] = inside ? in.pixels[static_cast<std::ptrdiff_t>(y + k / 3 - 1) * in.width + x + i + k % 3 - 1]
                       : in.at(y + k / 3 - 1, x + i + k % 3 - 1);
  if (NETWORK) {
    network<Lanes>(p);
    for (int i = 0; i < Lanes; ++i) out[i] = p[4][i];
    return;
  }
  for (int i = 0; i < Lanes; ++i) {
    std::uint8_t window[9];
    for (int k = 0; k < 9; ++k) window[k] = p[k][i];
    out[i] = by_inserting(window);
  }
}

}  // namespace

extern "C" void median_u8(std::int32_t height, std::int32_t width, const std::uint8_t* image,
                          std::uint8_t* result) {
  const Image in{image, height, width};
  for (std::int32_t y = 0; y < height; ++y) {
    std::uint8_t* out = result + static_cast<std::ptrdiff_t>(y) * width;
    std::int32_t x = 0;
    const bool inside_rows = SPLIT_BORDER && y > 0 && y + 1 < height;
    if (inside_rows && width > 1) windows<1>(in, y, x, false, out + x), ++x;
    for (; x + LANES < width; x += LANES) windows<LANES>(in, y, x, inside_rows, out + x);
    for (; x < width; ++x) windows<1>(in, y, x, false, out + x);
  }
}
