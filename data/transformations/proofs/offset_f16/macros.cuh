// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//@tunables {"tunables": {"TILE_K_SIZE": {"values": [16, 32, 64], "default": 32}, "WARP_X_DIM": {"values": [1, 2, 4, 8], "default": 2}, "TENSOR_X_DIM": {"values": [1, 2, 4], "default": 4}, "TENSOR_Y_DIM": {"values": [1, 2, 4], "default": 2}, "OFFSET_AMOUNT": {"values": [0, 8, 16], "default": 8}}, "constraints": ["2 * ((16 * TENSOR_Y_DIM * (BLOCK_X * BLOCK_Y // 32 // WARP_X_DIM)) * (TILE_K_SIZE + OFFSET_AMOUNT) + TILE_K_SIZE * (16 * TENSOR_X_DIM * WARP_X_DIM + OFFSET_AMOUNT)) + 32 * BLOCK_X * BLOCK_Y <= 49152", "BLOCK_X * BLOCK_Y // 32 % WARP_X_DIM == 0", "BLOCK_X * BLOCK_Y % 32 == 0"]}
#include <cuda_fp16.h>
#include <mma.h>
#define TX threadIdx.x
#define TY threadIdx.y
#define BX blockIdx.x
#define BY blockIdx.y
#define BDX BLOCK_X
#define BDY BLOCK_Y
#define A_AT(row, col) a[(size_t)(row) * k + (col)]
#define B_AT(row, col) b[(size_t)(row) * m + (col)]
#define C_AT(row, col) c[(size_t)(row) * m + (col)]

#define THREADS (BDX * BDY)
#define THREAD (TY * BDX + TX)
// Warps of the block, WARP_X_DIM side by side; each has a part of the block's tile to itself.
#define WARPS (THREADS / 32)
#define WARP (THREAD / 32)
#define LANE (THREAD % 32)
#define WARP_TILE_M (16 * TENSOR_Y_DIM)
#define WARP_TILE_N (16 * TENSOR_X_DIM)
#define WARP_ROW (WARP / WARP_X_DIM * WARP_TILE_M)
#define WARP_COL (WARP % WARP_X_DIM * WARP_TILE_N)
#define TILE_M (WARPS / WARP_X_DIM * WARP_TILE_M)
#define TILE_N (WARP_X_DIM * WARP_TILE_N)
#define TILE_K TILE_K_SIZE
// Row lengths of the tiles in shared memory: multiples of 8, as the matrix units' loads and 16 byte vectors need.
#define A_PITCH (TILE_K + OFFSET_AMOUNT)
#define B_PITCH (TILE_N + OFFSET_AMOUNT)
#define As_AT(r, c) tile_a[r][c]
#define Bs_AT(r, c) tile_b[r][c]
// Elements of the tiles in global memory; `start` is where the tile begins along K.
#define A_TILE(r, c) A_AT(BY * TILE_M + (r), start + (c))
#define B_TILE(r, c) B_AT(start + (r), BX * TILE_N + (c))

// Whether the block's tiles lie inside of the matrices along their other axis, and rows begin at multiples of
// 16 bytes.
#define WHOLE_TILES \
  (n - BY * TILE_M >= TILE_M && m - BX * TILE_N >= TILE_N && k % 8 == 0 && m % 8 == 0)
// Fragments of the matrix units: 16 x 16 x 16, sums in single precision.
using FragmentA = nvcuda::wmma::fragment<nvcuda::wmma::matrix_a, 16, 16, 16, __half, nvcuda::wmma::row_major>;
using FragmentB = nvcuda::wmma::fragment<nvcuda::wmma::matrix_b, 16, 16, 16, __half, nvcuda::wmma::row_major>;
using Sums = nvcuda::wmma::fragment<nvcuda::wmma::accumulator, 16, 16, 16, float>;
// Copies a tile of ROWS x COLS elements from global to shared memory with all threads of a block.
// dst(r, c) and src(r, c) name the elements, THREAD and THREADS are the linear index in the block and its size;
// elements outside of 0 <= r < ROW_LIMIT, 0 <= c < COL_LIMIT become 0. It has no barrier. It is one loop: a line
// '#pragma unroll 1' before it keeps its code small where it is only the way for edges.
#define KS_COPY_TILE(dst, src, ROWS, COLS, ROW_LIMIT, COL_LIMIT, THREAD, THREADS) \
  for (unsigned ks_i = (THREAD); ks_i < (ROWS) * (COLS); ks_i += (THREADS)) {     \
    const int ks_r = ks_i / unsigned(COLS), ks_c = ks_i % unsigned(COLS);         \
    if (ks_r < int(ROW_LIMIT) && ks_c < int(COL_LIMIT))                           \
      dst(ks_r, ks_c) = src(ks_r, ks_c);                                          \
    else                                                                          \
      dst(ks_r, ks_c) = 0;                                                        \
  }
// As KS_COPY_TILE, in vectors: VECTOR (float4, uint4) is some ELEMENTs, 16 bytes. The whole tile must lie inside of the
// matrix, COLS be a multiple of the vector, and rows of both sides begin at multiples of 16 bytes. Indices are unsigned and
// the number of steps is constant, so that divisions become shifts and the loop unrolls without tests.
#define KS_WIDTH(VECTOR, ELEMENT) unsigned(sizeof(VECTOR) / sizeof(ELEMENT))
#define KS_COPY_TILE_VECTORS(dst, src, ROWS, COLS, VECTOR, ELEMENT, THREAD, THREADS)                                          \
  _Pragma("unroll") for (unsigned ks_j = 0; ks_j < (ROWS) * (COLS) / KS_WIDTH(VECTOR, ELEMENT); ks_j += (THREADS)) {          \
    const unsigned ks_i = ks_j + (THREAD);                                                                                    \
    if ((ROWS) * (COLS) / KS_WIDTH(VECTOR, ELEMENT) % (THREADS) == 0 || ks_i < (ROWS) * (COLS) / KS_WIDTH(VECTOR, ELEMENT)) { \
      const unsigned ks_r = ks_i / ((COLS) / KS_WIDTH(VECTOR, ELEMENT));                                                      \
      const unsigned ks_c = ks_i % ((COLS) / KS_WIDTH(VECTOR, ELEMENT)) * KS_WIDTH(VECTOR, ELEMENT);                          \
      *(VECTOR*)&dst(ks_r, ks_c) = *(const VECTOR*)&src(ks_r, ks_c);                                                          \
    }                                                                                                                         \
  }
// The same into a tile whose columns are not neighbours (a transposed one): one element at a time, neighbouring
// threads to neighbouring rows, which are neighbours there.
#define KS_COPY_TILE_VECTORS_SCATTERED(dst, src, ROWS, COLS, VECTOR, ELEMENT, THREAD, THREADS)                                \
  _Pragma("unroll") for (unsigned ks_j = 0; ks_j < (ROWS) * (COLS) / KS_WIDTH(VECTOR, ELEMENT); ks_j += (THREADS)) {          \
    const unsigned ks_i = ks_j + (THREAD);                                                                                    \
    if ((ROWS) * (COLS) / KS_WIDTH(VECTOR, ELEMENT) % (THREADS) == 0 || ks_i < (ROWS) * (COLS) / KS_WIDTH(VECTOR, ELEMENT)) { \
      const unsigned ks_r = ks_i % (ROWS), ks_c = ks_i / (ROWS) * KS_WIDTH(VECTOR, ELEMENT);                                  \
      const VECTOR ks_v = *(const VECTOR*)&src(ks_r, ks_c);                                                                   \
      _Pragma("unroll") for (unsigned ks_e = 0; ks_e < KS_WIDTH(VECTOR, ELEMENT); ++ks_e)                                     \
          dst(ks_r, ks_c + ks_e) = ((const ELEMENT*)&ks_v)[ks_e];                                                             \
    }                                                                                                                         \
  }
