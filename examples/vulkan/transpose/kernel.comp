#version 450
// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The transpose of rows x columns numbers. A work group moves a tile of TILE x TILE, with STAGED through shared memory
// whose rows are PAD words longer than the tile, so that columns do not lie in one bank.
#ifndef TILE
#define TILE 16
#define GROUP_Y 8
#define STAGED 1
#define PAD 1
#endif
layout(local_size_x = TILE, local_size_y = GROUP_Y) in;
layout(binding = 0) readonly buffer X { float x[]; };
layout(binding = 1) writeonly buffer Y { float y[]; };
layout(push_constant) uniform Sizes { int rows, columns; };

#if STAGED
shared float tile[TILE][TILE + PAD];
#endif

void transpose() {
  const int left = int(gl_WorkGroupID.x) * TILE, top = int(gl_WorkGroupID.y) * TILE;
  const int tx = int(gl_LocalInvocationID.x), ty = int(gl_LocalInvocationID.y);
#if STAGED
  for (int r = ty; r < TILE; r += GROUP_Y)
    if (top + r < rows && left + tx < columns) tile[r][tx] = x[(top + r) * columns + left + tx];
  barrier();
  for (int r = ty; r < TILE; r += GROUP_Y)
    if (left + r < columns && top + tx < rows) y[(left + r) * rows + top + tx] = tile[tx][r];
#else
  for (int r = ty; r < TILE; r += GROUP_Y)
    if (top + r < rows && left + tx < columns) y[(left + tx) * rows + top + r] = x[(top + r) * columns + left + tx];
#endif
}
