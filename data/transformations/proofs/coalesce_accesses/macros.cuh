// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#define TILE 32
static_assert(BLOCK_X == TILE && BLOCK_Y == TILE, "a thread moves one element");
