// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// C = A B, n x n, row-major. A work group computes (BLOCK_Y * ROWS) x (BLOCK_X * COLUMNS) elements of C from tiles of
// depth DEPTH, with TILED in shared memory. The elements of an invocation lie one block apart, so that neighbours
// touch neighbouring words.
#ifndef BLOCK_X
#define BLOCK_X 16
#define BLOCK_Y 16
#define ROWS 1
#define COLUMNS 1
#define DEPTH 16
#define TILED 1
#endif

StructuredBuffer<float> a : register(t0);
StructuredBuffer<float> b : register(t1);
RWStructuredBuffer<float> c : register(u0);
[[vk::push_constant]] cbuffer sizes { int n; };

#if TILED
groupshared float tile_a[BLOCK_Y * ROWS][DEPTH];
groupshared float tile_b[DEPTH][BLOCK_X * COLUMNS];
#endif

[numthreads(BLOCK_X, BLOCK_Y, 1)]
void matmul(uint3 group : SV_GroupID, uint3 thread : SV_GroupThreadID, uint flat : SV_GroupIndex) {
  const uint size = uint(n);
  const uint row = group.y * BLOCK_Y * ROWS + thread.y, column = group.x * BLOCK_X * COLUMNS + thread.x;
  float sum[ROWS][COLUMNS];
  [unroll] for (uint r = 0; r < ROWS; ++r)
    [unroll] for (uint q = 0; q < COLUMNS; ++q) sum[r][q] = 0.0;

  for (uint depth = 0; depth < size; depth += DEPTH) {
#if TILED
    for (uint i = flat; i < BLOCK_Y * ROWS * DEPTH; i += BLOCK_X * BLOCK_Y)
      tile_a[i / DEPTH][i % DEPTH] = a[(group.y * BLOCK_Y * ROWS + i / DEPTH) * size + depth + i % DEPTH];
    for (uint j = flat; j < DEPTH * BLOCK_X * COLUMNS; j += BLOCK_X * BLOCK_Y)
      tile_b[j / (BLOCK_X * COLUMNS)][j % (BLOCK_X * COLUMNS)] =
          b[(depth + j / (BLOCK_X * COLUMNS)) * size + group.x * BLOCK_X * COLUMNS + j % (BLOCK_X * COLUMNS)];
    GroupMemoryBarrierWithGroupSync();
#endif
    [unroll] for (uint k = 0; k < DEPTH; ++k) {
      float right[COLUMNS];
      [unroll] for (uint s = 0; s < COLUMNS; ++s)
#if TILED
        right[s] = tile_b[k][thread.x + s * BLOCK_X];
#else
        right[s] = b[(depth + k) * size + column + s * BLOCK_X];
#endif
      [unroll] for (uint p = 0; p < ROWS; ++p) {
#if TILED
        const float left = tile_a[thread.y + p * BLOCK_Y][k];
#else
        const float left = a[(row + p * BLOCK_Y) * size + depth + k];
#endif
        [unroll] for (uint t = 0; t < COLUMNS; ++t) sum[p][t] += left * right[t];
      }
    }
#if TILED
    GroupMemoryBarrierWithGroupSync();
#endif
  }
  [unroll] for (uint y = 0; y < ROWS; ++y)
    [unroll] for (uint x = 0; x < COLUMNS; ++x) c[(row + y * BLOCK_Y) * size + column + x * BLOCK_X] = sum[y][x];
}
