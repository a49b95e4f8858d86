// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//@tunables {"tunables": {"TILE_K_SIZE": {"values": [8, 16, 32, 64], "default": 16}, "TRD_X_DIM": {"values": [1, 2, 4, 8, 16], "default": 8}, "TRD_Y_DIM": {"values": [1, 2, 4, 8], "default": 8}, "OFFSET_AMOUNT": {"values": [0, 8, 16], "default": 8}, "CHUNK_SIZE": {"values": [1, 2, 4], "default": 4}, "K_SPLITS": {"values": [1, 2, 4, 8, 16], "default": 8}}, "constraints": ["4 * TILE_K_SIZE * (BLOCK_X * TRD_X_DIM + BLOCK_Y * TRD_Y_DIM + OFFSET_AMOUNT) <= 49152", "TRD_X_DIM * TRD_Y_DIM <= 128", "TRD_X_DIM % CHUNK_SIZE == 0", "TRD_Y_DIM % CHUNK_SIZE == 0"]}
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
#define TILE_M (BDY * TRD_Y_DIM)
#define TILE_N (BDX * TRD_X_DIM)
#define TILE_K TILE_K_SIZE
// Row length of the transposed tile of A in shared memory.
#define A_PITCH (TILE_M + OFFSET_AMOUNT)
// The tile of A lies transposed: its row is the place along K.
#define As_AT(r, c) tile_a[c][r]
#define Bs_AT(r, c) tile_b[r][c]
// Row and column in the block's tile of the thread's output (i, j).
// CHUNK_SIZE neighbours, then a stride over the chunks of all threads along the axis.
#define ROW_OF(i) ((i) / CHUNK_SIZE * (CHUNK_SIZE * BDY) + TY * CHUNK_SIZE + (i) % CHUNK_SIZE)
#define COL_OF(j) ((j) / CHUNK_SIZE * (CHUNK_SIZE * BDX) + TX * CHUNK_SIZE + (j) % CHUNK_SIZE)
// Elements of the tiles in global memory; `start` is where the tile begins along K.
#define A_TILE(r, c) A_AT(BY * TILE_M + (r), start + (c))
#define B_TILE(r, c) B_AT(start + (r), BX * TILE_N + (c))

// Whether the block's tiles lie inside of the matrices along their other axis, and rows begin at multiples of
// 16 bytes.
#define WHOLE_TILES \
  (n - BY * TILE_M >= TILE_M && m - BX * TILE_N >= TILE_N && k % 4 == 0 && m % 4 == 0)

// What a block sums up along K: its part, in whole tiles.
#define K_PART ((((k) + K_SPLITS - 1) / K_SPLITS + TILE_K - 1) / TILE_K * TILE_K)
#define K_BEGIN (blockIdx.z * K_PART)
#define K_END (K_BEGIN + K_PART < k ? K_BEGIN + K_PART : k)
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

// CHUNK_SIZE floats that are read and written as one.
struct __align__(4 * CHUNK_SIZE) Chunk {
  float at[CHUNK_SIZE];
};
