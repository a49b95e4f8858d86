// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// B = A' in single precision: A is n x m, B is m x n, both row-major. Blocks that fit the caches are cut into
// small square tiles, and a tile is turned element by element or, as vectors, in registers.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#if defined(__SSE__)
#  include <xmmintrin.h>
#endif

namespace {

typedef float Vector __attribute__((vector_size(sizeof(float) * TILE)));
// As `Vector`, wherever it lies. (A typedef: clang drops the alignment from a `using`.)
typedef float LooseVector __attribute__((vector_size(sizeof(float) * TILE), aligned(4), may_alias));

// One step of a butterfly: lanes of x whose number has the bit Half change places with lanes of y that lack
// it.
template <int Half, int... Lane>
__attribute__((always_inline)) inline void exchange(Vector& x, Vector& y,
                                                    std::integer_sequence<int, Lane...>) {
  const Vector first = __builtin_shufflevector(x, y, ((Lane & Half) != 0 ? TILE + Lane - Half : Lane)...);
  y = __builtin_shufflevector(x, y, ((Lane & Half) != 0 ? TILE + Lane : Lane + Half)...);
  x = first;
}

template <int Half>
__attribute__((always_inline)) inline void turn(Vector* rows) {
  if constexpr (Half < TILE) {
#pragma GCC unroll 16
    for (int i = 0; i < TILE; ++i) {
      if ((i & Half) == 0) exchange<Half>(rows[i], rows[i + Half], std::make_integer_sequence<int, TILE>{});
    }
    turn<Half * 2>(rows);
  }
}

// to = from', a whole tile.
__attribute__((always_inline)) inline void turn_tile(const float* from, std::ptrdiff_t from_row, float* to,
                                                     std::ptrdiff_t to_row) {
  if (IN_REGISTERS) {
    Vector rows[TILE];
#pragma GCC unroll 16
    for (int i = 0; i < TILE; ++i) rows[i] = *reinterpret_cast<const LooseVector*>(from + i * from_row);
    turn<1>(rows);
#pragma GCC unroll 16
    for (int i = 0; i < TILE; ++i) *reinterpret_cast<LooseVector*>(to + i * to_row) = rows[i];
  } else if (WRITE_ALONG) {
    for (int j = 0; j < TILE; ++j) {
      for (int i = 0; i < TILE; ++i) to[j * to_row + i] = from[i * from_row + j];
    }
  } else {
    for (int i = 0; i < TILE; ++i) {
      for (int j = 0; j < TILE; ++j) to[j * to_row + i] = from[i * from_row + j];
    }
  }
}

// Copies a finished row out of the staging buffer, past the caches where the processor can.
inline void write_row(float* to, const float* from, int count) {
#if STREAM && defined(__SSE__)
  int i = 0;
  for (; i < count && reinterpret_cast<std::uintptr_t>(to + i) % 16 != 0; ++i) to[i] = from[i];
  for (; i + 4 <= count; i += 4) _mm_stream_ps(to + i, _mm_loadu_ps(from + i));
  for (; i < count; ++i) to[i] = from[i];
#else
  std::memcpy(to, from, static_cast<std::size_t>(count) * sizeof(float));
#endif
}

// to = from' for rows x columns of A, which may end inside a tile.
void turn_block(const float* from, std::ptrdiff_t from_row, float* to, std::ptrdiff_t to_row, int rows,
                int columns) {
  const int whole_rows = rows / TILE * TILE, whole_columns = columns / TILE * TILE;
  const auto tile = [&](int i, int j, std::ptrdiff_t ahead) {
    if (PREFETCH > 0) {
      for (int r = 0; r < TILE; ++r) __builtin_prefetch(from + (i + r) * from_row + j + ahead);
    }
    turn_tile(from + i * from_row + j, from_row, to + j * to_row + i, to_row);
  };
  if (TILES_DOWN) {
    for (int j = 0; j < whole_columns; j += TILE) {
      for (int i = 0; i < whole_rows; i += TILE) tile(i, j, PREFETCH * TILE * from_row);
    }
  } else {
    for (int i = 0; i < whole_rows; i += TILE) {
      for (int j = 0; j < whole_columns; j += TILE) tile(i, j, PREFETCH * TILE);
    }
  }
  for (int i = 0; i < rows; ++i) {
    for (int j = i < whole_rows ? whole_columns : 0; j < columns; ++j)
      to[j * to_row + i] = from[i * from_row + j];
  }
}

}  // namespace

extern "C" void transpose(std::int32_t n, std::int32_t m, const float* a, float* b) {
  constexpr std::ptrdiff_t staging_row = BLOCK_ROWS + PAD;
  alignas(64) float staging[STAGED ? BLOCK_COLUMNS * staging_row : 1];
  const auto block = [&](int i, int j) {
    const int rows = std::min(BLOCK_ROWS, n - i), columns = std::min(BLOCK_COLUMNS, m - j);
    const float* from = a + static_cast<std::ptrdiff_t>(i) * m + j;
    float* to = b + static_cast<std::ptrdiff_t>(j) * n + i;
    if (!STAGED) {
      turn_block(from, m, to, n, rows, columns);
      return;
    }
    turn_block(from, m, staging, staging_row, rows, columns);
    for (int r = 0; r < columns; ++r) {
      write_row(to + static_cast<std::ptrdiff_t>(r) * n, staging + r * staging_row, rows);
    }
  };
  if (BLOCKS_DOWN) {
    for (int j = 0; j < m; j += BLOCK_COLUMNS) {
      for (int i = 0; i < n; i += BLOCK_ROWS) block(i, j);
    }
  } else {
    for (int i = 0; i < n; i += BLOCK_ROWS) {
      for (int j = 0; j < m; j += BLOCK_COLUMNS) block(i, j);
    }
  }
#if STREAM && defined(__SSE__)
  _mm_sfence();
#endif
}
