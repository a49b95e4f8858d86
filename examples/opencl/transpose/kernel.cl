// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// y = transpose of x, row-major: x is rows x cols. A group turns a tile of TILE x TILE; each work item takes TILE / LINES
// elements of a column. With STAGE the tile goes through local memory, so that reads and writes both run along lines;
// PAD words more a line keep its banks apart.
#ifndef TILE
#  define TILE 16
#  define LINES 16
#  define STAGE 0
#  define PAD 0
#  define SWAP 0
#endif

__kernel __attribute__((reqd_work_group_size(TILE, LINES, 1))) void transpose(
    int rows, int cols, const __global float* restrict x, __global float* restrict y) {
  const int across = SWAP ? get_group_id(1) : get_group_id(0);
  const int down = SWAP ? get_group_id(0) : get_group_id(1);
  const int lx = get_local_id(0), ly = get_local_id(1);
#if STAGE
  __local float tile[TILE][TILE + PAD];
  for (int i = ly; i < TILE; i += LINES) {
    const int row = down * TILE + i, col = across * TILE + lx;
    if (row < rows && col < cols) tile[i][lx] = x[row * cols + col];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int i = ly; i < TILE; i += LINES) {
    const int row = down * TILE + lx, col = across * TILE + i;
    if (row < rows && col < cols) y[col * rows + row] = tile[lx][i];
  }
#else
  for (int i = ly; i < TILE; i += LINES) {
    const int row = down * TILE + i, col = across * TILE + lx;
    if (row < rows && col < cols) y[col * rows + row] = x[row * cols + col];
  }
#endif
}
