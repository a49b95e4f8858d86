// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//@tunables {"tunables": {"TILE_K_SIZE": {"values": [16, 32, 64], "default": 32}}, "constraints": ["2 * TILE_K_SIZE * (BLOCK_X + BLOCK_Y) <= 49152"]}
#include <cuda_fp16.h>
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
#define TILE_M BDY
#define TILE_N BDX
#define TILE_K TILE_K_SIZE
#define As_AT(r, c) tile_a[r][c]
#define Bs_AT(r, c) tile_b[r][c]
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
