// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One sweep of the 7-point stencil over a grid of nz x ny x nx points (x fastest), the boundary copied. The
// inside is cut into blocks that fit the caches; within one, a tile of PLANES x ROWS x (VECTORS vectors) is
// computed at once so that neighbours shared by its points are loaded once.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace {

typedef float Vector __attribute__((vector_size(sizeof(float) * VECTOR_WIDTH)));
// As `Vector`, wherever it lies. (A typedef: clang drops the alignment from a `using`.)
typedef float LooseVector __attribute__((vector_size(sizeof(float) * VECTOR_WIDTH), aligned(4), may_alias));

struct Grid {
  std::ptrdiff_t row, plane;
  float center, side;
};

__attribute__((always_inline)) inline Vector load(const float* from) {
  return *reinterpret_cast<const LooseVector*>(from);
}

inline void point(const Grid& grid, const float* __restrict in, float* __restrict out) {
  *out = grid.center * *in +
         grid.side * (in[-1] + in[1] + in[-grid.row] + in[grid.row] + in[-grid.plane] + in[grid.plane]);
}

// The tile whose first point is at in and out. Everything is computed before anything is stored, which leaves
// the compiler free to share loads.
template <int Planes, int Rows, int Vectors>
__attribute__((always_inline)) inline void tile(const Grid& grid, const float* __restrict in,
                                                float* __restrict out) {
  Vector result[Planes][Rows][Vectors];
#pragma GCC unroll 4
  for (int z = 0; z < Planes; ++z) {
#pragma GCC unroll 8
    for (int y = 0; y < Rows; ++y) {
#pragma GCC unroll 4
      for (int v = 0; v < Vectors; ++v) {
        const float* at = in + z * grid.plane + y * grid.row + v * VECTOR_WIDTH;
        if (PREFETCH > 0) __builtin_prefetch(at + grid.plane + PREFETCH);
        result[z][y][v] = grid.center * load(at) +
                          grid.side * (load(at - 1) + load(at + 1) + load(at - grid.row) +
                                       load(at + grid.row) + load(at - grid.plane) + load(at + grid.plane));
      }
    }
  }
#pragma GCC unroll 4
  for (int z = 0; z < Planes; ++z) {
#pragma GCC unroll 8
    for (int y = 0; y < Rows; ++y) {
#pragma GCC unroll 4
      for (int v = 0; v < Vectors; ++v) {
        *reinterpret_cast<LooseVector*>(out + z * grid.plane + y * grid.row + v * VECTOR_WIDTH) =
            result[z][y][v];
      }
    }
  }
}

// Planes x Rows lines of `count` points.
template <int Planes, int Rows>
__attribute__((noinline)) void lines(const Grid& given, const float* __restrict in, float* __restrict out,
                                     std::ptrdiff_t count) {
  const Grid grid = given;
  std::ptrdiff_t x = 0;
  constexpr std::ptrdiff_t width = VECTOR_WIDTH, step = VECTOR_WIDTH * VECTORS;
  for (; x + step <= count; x += step) tile<Planes, Rows, VECTORS>(grid, in + x, out + x);
  for (; x + width <= count; x += width) tile<Planes, Rows, 1>(grid, in + x, out + x);
  // Some points a second time in one vector, rather than each of the rest alone.
  if (OVERLAP && x < count && count >= width) {
    tile<Planes, Rows, 1>(grid, in + count - width, out + count - width);
    return;
  }
  for (; x < count; ++x) {
    for (int z = 0; z < Planes; ++z) {
      for (int y = 0; y < Rows; ++y) {
        const std::ptrdiff_t at = z * grid.plane + y * grid.row + x;
        point(grid, in + at, out + at);
      }
    }
  }
}

template <int Planes>
void rows(const Grid& grid, const float* in, float* out, int count_y, int count_x) {
  int y = 0;
  for (; y + ROWS <= count_y; y += ROWS)
    lines<Planes, ROWS>(grid, in + y * grid.row, out + y * grid.row, count_x);
  for (; y < count_y; ++y) lines<Planes, 1>(grid, in + y * grid.row, out + y * grid.row, count_x);
}

void copy_boundary(int nz, int ny, int nx, const Grid& grid, const float* in, float* out) {
  const auto copy = [&](std::ptrdiff_t from, std::ptrdiff_t count) {
    std::memcpy(out + from, in + from, static_cast<std::size_t>(count) * sizeof(float));
  };
  copy(0, grid.plane);
  copy((nz - 1) * grid.plane, grid.plane);
  for (int z = 1; z < nz - 1; ++z) {
    copy(z * grid.plane, grid.row);
    copy(z * grid.plane + (ny - 1) * grid.row, grid.row);
    for (int y = 1; y < ny - 1; ++y) {
      const std::ptrdiff_t first = z * grid.plane + y * grid.row, last = first + nx - 1;
      out[first] = in[first];
      out[last] = in[last];
    }
  }
}

}  // namespace

extern "C" void stencil(std::int32_t nz, std::int32_t ny, std::int32_t nx, float center, float side,
                        const float* input, float* output) {
  const Grid grid{nx, static_cast<std::ptrdiff_t>(ny) * nx, center, side};
  copy_boundary(nz, ny, nx, grid, input, output);
  const int last[3] = {nz - 1, ny - 1, nx - 1};
  const int size[3] = {BLOCK_Z, BLOCK_Y, BLOCK_X};
  constexpr int order[3] = BLOCK_ORDER;
  int at[3];
  for (at[order[0]] = 1; at[order[0]] < last[order[0]]; at[order[0]] += size[order[0]]) {
    for (at[order[1]] = 1; at[order[1]] < last[order[1]]; at[order[1]] += size[order[1]]) {
      for (at[order[2]] = 1; at[order[2]] < last[order[2]]; at[order[2]] += size[order[2]]) {
        const int end_z = std::min(at[0] + BLOCK_Z, last[0]);
        const int count_y = std::min(BLOCK_Y, last[1] - at[1]), count_x = std::min(BLOCK_X, last[2] - at[2]);
        int z = at[0];
        const auto first = [&] { return z * grid.plane + at[1] * grid.row + at[2]; };
        for (; z + PLANES <= end_z; z += PLANES)
          rows<PLANES>(grid, input + first(), output + first(), count_y, count_x);
        for (; z < end_z; ++z) rows<1>(grid, input + first(), output + first(), count_y, count_x);
      }
    }
  }
}
