// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

// The best of some 170 configurations of examples/host/matmul at 512, 768 and 1024 on an AMD EPYC of the Zen
// 4 generation (AVX-512) with g++ 12.2: random draws, steps from the best of them, and twelve chosen by hand.
// clang-format off
#define TILE_ROWS 8
#define TILE_VECTORS 2
#define VECTOR_WIDTH 16
#define BLOCK_ROWS 128
#define BLOCK_COLUMNS 1024
#define BLOCK_K 384
#define PACK_A 0
#define PACK_B 1
#define LOOP_ORDER {0, 1, 2}
#define ROWS_INSIDE 0
#define UNROLL 4
#define PREFETCH_A 0
#define PREFETCH_B 0
#define PREFETCH_C 1
