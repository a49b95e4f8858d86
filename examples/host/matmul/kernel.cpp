// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// C = A B in single precision, row-major: A is n x k, B is k x m, C is n x m.
// The blocked algorithm of Goto and van de Geijn ("Anatomy of High-Performance Matrix Multiplication", 2008):
// blocks of A and B are copied into panels that fit the caches, and a small tile of C lives in registers.
// Every size in it is a tunable; README.md lists them.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace {

constexpr int tile_rows = TILE_ROWS;
constexpr int vector_width = VECTOR_WIDTH;
constexpr int tile_vectors = TILE_VECTORS;
constexpr int tile_columns = tile_vectors * vector_width;
constexpr int block_depth = BLOCK_K;
constexpr int block_rows = (BLOCK_ROWS + tile_rows - 1) / tile_rows * tile_rows;
constexpr int block_columns = (BLOCK_COLUMNS + tile_columns - 1) / tile_columns * tile_columns;

typedef float Vector __attribute__((vector_size(sizeof(float) * VECTOR_WIDTH)));
// As `Vector`, wherever it lies. (A typedef: clang drops the alignment from a `using`.)
typedef float LooseVector __attribute__((vector_size(sizeof(float) * VECTOR_WIDTH), aligned(4), may_alias));

inline int blocks(int size, int block) {
  return (size + block - 1) / block;
}

// Panels are kept between calls: fresh pages for every call would cost more than packing into them.
class Panel {
 public:
  explicit Panel(std::size_t floats)
      : data_(static_cast<float*>(std::aligned_alloc(4096, (floats * sizeof(float) + 4095) / 4096 * 4096))) {
    if (data_ == nullptr) throw std::bad_alloc();
  }
  Panel(const Panel&) = delete;
  Panel& operator=(const Panel&) = delete;
  ~Panel() { std::free(data_); }
  float* data() const { return data_; }

 private:
  float* data_;
};

// Copies rows x depth of A as strips of tile_rows: strip after strip, k by k, rows side by side; absent rows
// are 0.
void pack_a(const float* a, std::ptrdiff_t stride, int rows, int depth, float* to) {
  for (int row = 0; row < rows; row += tile_rows) {
    const int present = std::min(tile_rows, rows - row);
    for (int i = 0; i < present; ++i) {
      const float* from = a + (row + i) * stride;
      for (int p = 0; p < depth; ++p) to[p * tile_rows + i] = from[p];
    }
    for (int i = present; i < tile_rows; ++i) {
      for (int p = 0; p < depth; ++p) to[p * tile_rows + i] = 0.0f;
    }
    to += static_cast<std::ptrdiff_t>(depth) * tile_rows;
  }
}

// Copies depth x columns of B as strips of tile_columns: strip after strip, k by k; absent columns are 0.
void pack_b(const float* b, std::ptrdiff_t stride, int depth, int columns, float* to) {
  for (int column = 0; column < columns; column += tile_columns) {
    const int present = std::min(tile_columns, columns - column);
    for (int p = 0; p < depth; ++p) {
      const float* from = b + p * stride + column;
      if (present == tile_columns) {
        for (int v = 0; v < tile_vectors; ++v) {
          *reinterpret_cast<LooseVector*>(to + v * vector_width) =
              *reinterpret_cast<const LooseVector*>(from + v * vector_width);
        }
      } else {
        for (int j = 0; j < tile_columns; ++j) to[j] = j < present ? from[j] : 0.0f;
      }
      to += tile_columns;
    }
  }
}

// Where a tile's operands lie: element (i, p) of A is a[i * a_row + p * a_step], row p of B starts at b + p *
// b_step.
struct Operands {
  const float* a;
  std::ptrdiff_t a_row, a_step;
  const float* b;
  std::ptrdiff_t b_step;
};

struct Accumulators {
  Vector value[tile_rows][tile_vectors];
};

// One step of the depth: a rank-one update of the tile.
__attribute__((always_inline)) inline void step(Accumulators& sum, const Operands& at, std::ptrdiff_t p) {
  const float* row_of_b = at.b + p * at.b_step;
  if (PREFETCH_B > 0) {
    for (int j = 0; j < tile_columns; j += 16) __builtin_prefetch(row_of_b + PREFETCH_B * at.b_step + j);
  }
  if (PREFETCH_A > 0) __builtin_prefetch(at.a + (p + PREFETCH_A) * at.a_step);
  Vector b[tile_vectors];
#pragma GCC unroll 16
  for (int v = 0; v < tile_vectors; ++v)
    b[v] = *reinterpret_cast<const LooseVector*>(row_of_b + v * vector_width);
#pragma GCC unroll 32
  for (int i = 0; i < tile_rows; ++i) {
    const float a = at.a[i * at.a_row + p * at.a_step];
#pragma GCC unroll 16
    for (int v = 0; v < tile_vectors; ++v) sum.value[i][v] += a * b[v];
  }
}

// rows x columns of C (a whole tile or what is left of one) = or += the product over `depth`.
__attribute__((always_inline)) inline void multiply(const Operands& at, int depth, float* c,
                                                    std::ptrdiff_t c_row, int rows, int columns, bool add) {
  Accumulators sum;
#pragma GCC unroll 32
  for (int i = 0; i < tile_rows; ++i) {
    if (PREFETCH_C && i < rows) __builtin_prefetch(c + i * c_row, 1);
#pragma GCC unroll 16
    for (int v = 0; v < tile_vectors; ++v) sum.value[i][v] = Vector{};
  }
  int p = 0;
  for (; p + UNROLL <= depth; p += UNROLL) {
#pragma GCC unroll 16
    for (int u = 0; u < UNROLL; ++u) step(sum, at, p + u);
  }
  if (UNROLL > 1) {
    for (; p < depth; ++p) step(sum, at, p);
  }
  if (rows == tile_rows && columns == tile_columns) {
#pragma GCC unroll 32
    for (int i = 0; i < tile_rows; ++i) {
#pragma GCC unroll 16
      for (int v = 0; v < tile_vectors; ++v) {
        LooseVector* to = reinterpret_cast<LooseVector*>(c + i * c_row + v * vector_width);
        *to = add ? *to + sum.value[i][v] : sum.value[i][v];
      }
    }
    return;
  }
  alignas(64) float tile[tile_rows * tile_columns];
#pragma GCC unroll 32
  for (int i = 0; i < tile_rows; ++i) {
#pragma GCC unroll 16
    for (int v = 0; v < tile_vectors; ++v) {
      *reinterpret_cast<LooseVector*>(tile + i * tile_columns + v * vector_width) = sum.value[i][v];
    }
  }
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < columns; ++j) {
      c[i * c_row + j] = (add ? c[i * c_row + j] : 0.0f) + tile[i * tile_columns + j];
    }
  }
}

// Apart from `multiply` so that the strides of packed panels are constants to the compiler, and only one copy
// of the unrolled code is made for each of the ways that A and B can lie.
template <bool PackedA, bool PackedB>
__attribute__((noinline)) void multiply_tile(const float* a, std::ptrdiff_t a_stride, const float* b,
                                             std::ptrdiff_t b_stride, int depth, float* c,
                                             std::ptrdiff_t c_row, int rows, int columns, bool add) {
  const Operands at{a, PackedA ? 1 : a_stride, PackedA ? tile_rows : 1, b, PackedB ? tile_columns : b_stride};
  multiply(at, depth, c, c_row, rows, columns, add);
}

}  // namespace

extern "C" void matmul(std::int32_t n, std::int32_t m, std::int32_t k, const float* a, const float* b,
                       float* c) {
  // Without packing only the strips that stick out of the matrix are copied, one at a time.
  thread_local const Panel panel_a(static_cast<std::size_t>(PACK_A ? block_rows : tile_rows) * block_depth);
  thread_local const Panel panel_b(static_cast<std::size_t>(PACK_B ? block_columns : tile_columns) *
                                   block_depth);
  float* const packed_a = panel_a.data();
  float* const packed_b = panel_b.data();

  // The three outer loops in the order asked for; a block is packed again only when its own indices have
  // changed.
  const int counts[3] = {blocks(m, block_columns), blocks(k, block_depth), blocks(n, block_rows)};
  constexpr int order[3] = LOOP_ORDER;
  int packed_a_row = -1, packed_a_depth = -1, packed_b_column = -1, packed_b_depth = -1;
  int index[3];
  for (index[order[0]] = 0; index[order[0]] < counts[order[0]]; ++index[order[0]]) {
    for (index[order[1]] = 0; index[order[1]] < counts[order[1]]; ++index[order[1]]) {
      for (index[order[2]] = 0; index[order[2]] < counts[order[2]]; ++index[order[2]]) {
        const int first_column = index[0] * block_columns,
                  columns = std::min(block_columns, m - first_column);
        const int first_depth = index[1] * block_depth, depth = std::min(block_depth, k - first_depth);
        const int first_row = index[2] * block_rows, rows = std::min(block_rows, n - first_row);
        const float* block_a = a + static_cast<std::ptrdiff_t>(first_row) * k + first_depth;
        const float* block_b = b + static_cast<std::ptrdiff_t>(first_depth) * m + first_column;
        if (PACK_A && (packed_a_row != first_row || packed_a_depth != first_depth)) {
          pack_a(block_a, k, rows, depth, packed_a);
          packed_a_row = first_row, packed_a_depth = first_depth;
        }
        if (PACK_B && (packed_b_column != first_column || packed_b_depth != first_depth)) {
          pack_b(block_b, m, depth, columns, packed_b);
          packed_b_column = first_column, packed_b_depth = first_depth;
        }

        const auto tile = [&](int i, int j) {
          const int tile_height = std::min(tile_rows, rows - i),
                    tile_width = std::min(tile_columns, columns - j);
          float* to = c + static_cast<std::ptrdiff_t>(first_row + i) * m + first_column + j;
          const bool short_a = !PACK_A && tile_height < tile_rows,
                     short_b = !PACK_B && tile_width < tile_columns;
          const float* strip_a = PACK_A ? packed_a + static_cast<std::ptrdiff_t>(i) * depth
                                        : block_a + static_cast<std::ptrdiff_t>(i) * k;
          const float* strip_b = PACK_B ? packed_b + static_cast<std::ptrdiff_t>(j) * depth : block_b + j;
          if (short_a) pack_a(strip_a, k, tile_height, depth, packed_a);
          if (short_b) pack_b(strip_b, m, depth, tile_width, packed_b);
          const bool add = first_depth > 0;
          if (short_a && short_b) {
            multiply_tile<true, true>(packed_a, k, packed_b, m, depth, to, m, tile_height, tile_width, add);
          } else if (short_a) {
            multiply_tile<true, PACK_B>(packed_a, k, strip_b, m, depth, to, m, tile_height, tile_width, add);
          } else if (short_b) {
            multiply_tile<PACK_A, true>(strip_a, k, packed_b, m, depth, to, m, tile_height, tile_width, add);
          } else {
            multiply_tile<PACK_A, PACK_B>(strip_a, k, strip_b, m, depth, to, m, tile_height, tile_width, add);
          }
        };
        if (ROWS_INSIDE) {
          for (int j = 0; j < columns; j += tile_columns) {
            for (int i = 0; i < rows; i += tile_rows) tile(i, j);
          }
        } else {
          for (int i = 0; i < rows; i += tile_rows) {
            for (int j = 0; j < columns; j += tile_columns) tile(i, j);
          }
        }
      }
    }
  }
}
