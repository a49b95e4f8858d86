// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//@tunables {"tunables": {"TILE_K_SIZE": {"values": [8, 16, 32, 64], "default": 16}, "TRD_X_DIM": {"values": [1, 2, 4, 8, 16], "default": 8}, "TRD_Y_DIM": {"values": [1, 2, 4, 8], "default": 8}, "OFFSET_AMOUNT": {"values": [0, 8, 16], "default": 8}}, "constraints": ["4 * TILE_K_SIZE * (BLOCK_X * TRD_X_DIM + BLOCK_Y * TRD_Y_DIM + OFFSET_AMOUNT) <= 49152", "TRD_X_DIM * TRD_Y_DIM <= 128"]}
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
#define ROW_OF(i) (TY + (i) * BDY)
#define COL_OF(j) (TX + (j) * BDX)
// Elements of the tiles in global memory; `start` is where the tile begins along K.
#define A_TILE(r, c) A_AT(BY * TILE_M + (r), start + (c))
#define B_TILE(r, c) B_AT(start + (r), BX * TILE_N + (c))

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
