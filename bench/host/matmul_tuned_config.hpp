// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

// Provenance
#define TILE_ROWS 12
#define TILE_VECTORS 2
#define VECTOR_WIDTH 16
#define BLOCK_ROWS 192
#define BLOCK_COLUMNS 1024
#define BLOCK_K 384
#define PACK_A 1
#define PACK_B 1
#define LOOP_ORDER \
  { 0, 1, 2 }
#define ROWS_INSIDE 1
#define UNROLL 4
#define PREFETCH_A 0
#define PREFETCH_B 0
#define PREFETCH_C 0
