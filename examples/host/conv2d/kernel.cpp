// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A direct 3 x 3 convolution without padding. A tile of FILTERS x ROWS x (VECTORS vectors) of the output
// stays in registers while the channels go by. The last tile along each axis is moved back to end at the
// edge, so that some outputs are computed twice and none needs a special case; only an axis shorter than a
// tile does.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace {

typedef float Vector __attribute__((vector_size(sizeof(float) * VECTOR_WIDTH)));
// As `Vector`, wherever it lies. (A typedef: clang drops the alignment from a `using`.)
typedef float LooseVector __attribute__((vector_size(sizeof(float) * VECTOR_WIDTH), aligned(4), may_alias));

constexpr int tap_unroll = UNROLL_TAPS ? 3 : 1;

struct Sizes {
  std::ptrdiff_t channels, height, width, out_height, out_width;
};

struct Tensors {
  const float* in;
  const float* weights;
  float* out;
};

// The tile of the output whose first filter, row and column are f, y and x; `weight` points at its own
// weights.
template <int Filters, int Rows, int Vectors>
__attribute__((noinline)) void tile(const Sizes& sizes, const Tensors& tensors, const float* weight,
                                    std::ptrdiff_t f, std::ptrdiff_t y, std::ptrdiff_t x) {
  Vector sum[Filters][Rows][Vectors];
#pragma GCC unroll 16
  for (int i = 0; i < Filters; ++i) {
#pragma GCC unroll 8
    for (int j = 0; j < Rows; ++j) {
#pragma GCC unroll 8
      for (int v = 0; v < Vectors; ++v) sum[i][j][v] = Vector{};
    }
  }
  const std::ptrdiff_t width = sizes.width, filter = PACK_WEIGHTS ? 1 : sizes.channels * 9;
  const std::ptrdiff_t tap = PACK_WEIGHTS ? Filters : 1;
  const float* in = tensors.in + y * width + x;
  for (std::ptrdiff_t c = 0; c < sizes.channels; ++c) {
    if (PREFETCH) {
      for (int j = 0; j < Rows + 2; ++j) __builtin_prefetch(in + sizes.height * width + j * width);
    }
#pragma GCC unroll tap_unroll
    for (int r = 0; r < 3; ++r) {
#pragma GCC unroll tap_unroll
      for (int s = 0; s < 3; ++s) {
        Vector value[Rows][Vectors];
#pragma GCC unroll 8
        for (int j = 0; j < Rows; ++j) {
#pragma GCC unroll 8
          for (int v = 0; v < Vectors; ++v) {
            value[j][v] = *reinterpret_cast<const LooseVector*>(in + (j + r) * width + s + v * VECTOR_WIDTH);
          }
        }
#pragma GCC unroll 16
        for (int i = 0; i < Filters; ++i) {
          const float w = weight[i * filter + (r * 3 + s) * tap];
#pragma GCC unroll 8
          for (int j = 0; j < Rows; ++j) {
#pragma GCC unroll 8
            for (int v = 0; v < Vectors; ++v) sum[i][j][v] += w * value[j][v];
          }
        }
      }
    }
    in += sizes.height * width;
    weight += 9 * tap;
  }
#pragma GCC unroll 16
  for (int i = 0; i < Filters; ++i) {
#pragma GCC unroll 8
    for (int j = 0; j < Rows; ++j) {
#pragma GCC unroll 8
      for (int v = 0; v < Vectors; ++v) {
        float* to =
            tensors.out + ((f + i) * sizes.out_height + y + j) * sizes.out_width + x + v * VECTOR_WIDTH;
        *reinterpret_cast<LooseVector*>(to) = sum[i][j][v];
      }
    }
  }
}

// For outputs narrower than a vector.
void point(const Sizes& sizes, const Tensors& tensors, std::ptrdiff_t f, std::ptrdiff_t y, std::ptrdiff_t x) {
  float sum = 0;
  for (std::ptrdiff_t c = 0; c < sizes.channels; ++c) {
    for (int r = 0; r < 3; ++r) {
      for (int s = 0; s < 3; ++s) {
        sum += tensors.weights[((f * sizes.channels + c) * 3 + r) * 3 + s] *
               tensors.in[(c * sizes.height + y + r) * sizes.width + x + s];
      }
    }
  }
  tensors.out[(f * sizes.out_height + y) * sizes.out_width + x] = sum;
}

// Weights for tiles of Filters filters: tile after tile, tap by tap, filters side by side.
template <int Filters>
void pack(const float* weights, std::ptrdiff_t taps, std::ptrdiff_t filters, std::vector<float>& packed) {
  const std::ptrdiff_t tiles = (filters + Filters - 1) / Filters;
  packed.resize(static_cast<std::size_t>(tiles * taps * Filters));
  float* to = packed.data();
  for (std::ptrdiff_t index = 0; index < tiles; ++index) {
    const float* from = weights + std::min(index * Filters, filters - Filters) * taps;
    for (std::ptrdiff_t t = 0; t < taps; ++t) {
      for (int i = 0; i < Filters; ++i) *to++ = from[i * taps + t];
    }
  }
}

// Covers the output with tiles, in the order asked for; the last one along an axis starts early enough to
// fit.
template <int Filters, int Rows, int Vectors>
void convolve(const Sizes& sizes, const Tensors& tensors, std::ptrdiff_t filters) {
  const std::ptrdiff_t taps = sizes.channels * 9;
  thread_local std::vector<float> packed;  // kept between calls
  if (PACK_WEIGHTS) pack<Filters>(tensors.weights, taps, filters, packed);

  constexpr std::ptrdiff_t extent[3] = {Filters, Rows, Vectors * VECTOR_WIDTH};
  const std::ptrdiff_t size[3] = {filters, sizes.out_height, sizes.out_width};
  constexpr int order[3] = LOOP_ORDER;
  const auto tiles = [&](int axis) { return (size[axis] + extent[axis] - 1) / extent[axis]; };
  std::ptrdiff_t index[3];
  const auto start = [&](int axis) {
    return std::min(index[axis] * extent[axis], size[axis] - extent[axis]);
  };
  for (index[order[0]] = 0; index[order[0]] < tiles(order[0]); ++index[order[0]]) {
    for (index[order[1]] = 0; index[order[1]] < tiles(order[1]); ++index[order[1]]) {
      for (index[order[2]] = 0; index[order[2]] < tiles(order[2]); ++index[order[2]]) {
        const float* weights =
            PACK_WEIGHTS ? packed.data() + index[0] * taps * Filters : tensors.weights + start(0) * taps;
        tile<Filters, Rows, Vectors>(sizes, tensors, weights, start(0), start(1), start(2));
      }
    }
  }
}

// The next three take the tile's size along one axis each, or 1 where the output is smaller than that.
template <int Filters, int Rows>
void choose_columns(const Sizes& sizes, const Tensors& tensors, std::ptrdiff_t filters) {
  if (sizes.out_width >= VECTORS * VECTOR_WIDTH)
    return convolve<Filters, Rows, VECTORS>(sizes, tensors, filters);
  if (sizes.out_width >= VECTOR_WIDTH) return convolve<Filters, Rows, 1>(sizes, tensors, filters);
  for (std::ptrdiff_t f = 0; f < filters; ++f) {
    for (std::ptrdiff_t y = 0; y < sizes.out_height; ++y) {
      for (std::ptrdiff_t x = 0; x < sizes.out_width; ++x) point(sizes, tensors, f, y, x);
    }
  }
}

template <int Filters>
void choose_rows(const Sizes& sizes, const Tensors& tensors, std::ptrdiff_t filters) {
  if (sizes.out_height >= ROWS) return choose_columns<Filters, ROWS>(sizes, tensors, filters);
  choose_columns<Filters, 1>(sizes, tensors, filters);
}

}  // namespace

extern "C" void conv2d(std::int32_t channels, std::int32_t filters, std::int32_t height, std::int32_t width,
                       const float* input, const float* weights, float* output) {
  const Sizes sizes{channels, height, width, height - 2, width - 2};
  const Tensors tensors{input, weights, output};
  if (filters >= FILTERS) return choose_rows<FILTERS>(sizes, tensors, filters);
  choose_rows<1>(sizes, tensors, filters);
}
